//! The socket of a link's datagrams: opened when they are wanted, not before.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::hub::Beside;
use super::packet::{DATAGRAM, Open};
use crate::network::event_loop::until;
use crate::secret::random;
use crate::wire::{DatagramKey, Doorway, Frame};

/// Datagrams that are looked at before anything is answered.
const AT_ONCE: usize = 64;

/// Where the system lets us receive datagrams, and under which key; what is sent there can be said to the peer.
async fn open_for(far: IpAddr) -> io::Result<(UdpSocket, Doorway)> {
    let any = match far {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
    let doorway =
        Doorway { port: socket.local_addr()?.port(), key: DatagramKey(random().map_err(io::Error::other)?) };
    Ok((socket, doorway))
}

impl Beside {
    /// Sends and receives, from when somebody wants it; never ends. Frames that are whole go to `whole`, and what is to be said about ourselves to `queue`.
    pub(in crate::network) async fn run(
        &self,
        queue: &mpsc::WeakSender<Frame>,
        whole: mpsc::Sender<Vec<u8>>,
    ) {
        let Some(far) = self.far else { return std::future::pending().await };
        self.wanted.notified().await;
        let (socket, doorway) = match open_for(far).await {
            Ok(opened) => opened,
            Err(error) => {
                tracing::debug!(%error, "no socket for datagrams");
                return std::future::pending().await;
            }
        };
        let open = Open::new(&doorway.key.0);
        if let Some(queue) = queue.upgrade() {
            // Closed with the link.
            let _ = queue.send(Frame::Datagrams(doorway)).await;
        }
        self.serve(&socket, &open, whole).await;
    }

    async fn serve(&self, socket: &UdpSocket, open: &Open, whole: mpsc::Sender<Vec<u8>>) {
        let mut buffer = vec![0; DATAGRAM];
        loop {
            let wake_at = self.lock().wake_at();
            tokio::select! {
                came = socket.recv_from(&mut buffer) => {
                    let mut next = came;
                    for _ in 0..AT_ONCE {
                        // An error is about something that was sent: nobody was there.
                        let Ok((length, from)) = next else { break };
                        self.on_datagram(open, &mut buffer[..length], from);
                        next = socket.try_recv_from(&mut buffer);
                    }
                }
                () = until(wake_at) => {}
                () = self.stir.notified() => {}
                // Only where there is room: what waits here is not used, and the peer knows.
                Ok(room) = whole.reserve(), if self.is_ready() => {
                    if let Some(frame) = self.give() {
                        room.send(frame);
                    }
                    continue;
                }
            }
            let (at, datagrams) = self.pour();
            if let Some(at) = at {
                for datagram in datagrams {
                    // What the system does not take is lost, as on the way.
                    let _ = socket.try_send_to(&datagram, at);
                }
            }
        }
    }
}
