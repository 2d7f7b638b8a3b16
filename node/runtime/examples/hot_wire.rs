//! The paths on which a node's bytes spend their time, so often as asked: `benches/guard` counts their instructions.

use std::error::Error;

use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::identity::Keypair;
use protocol::gossip::Say;
use protocol::{Message, Numbers, RunId};
use runtime::Secret;
use runtime::network::channel::{Keys, agree};
use runtime::wire::{Frame, Limits, read_frame, write_frame};
use tokio::io::duplex;
use tokio_util::compat::TokioAsyncReadCompatExt;

/// Numbers of a message.
const WORDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, times] = arguments.as_slice() else { return Err("usage: hot_wire PATH TIMES".into()) };
    let times: u32 = times.parse()?;
    let tokio = tokio::runtime::Builder::new_current_thread().build()?;
    match path.as_str() {
        "sealed-records" => tokio.block_on(sealed_records(times)),
        "frames" => tokio.block_on(frames(times)),
        other => Err(format!("there is no path `{other}`").into()),
    }
}

/// As many bytes as a message has, through a channel.
async fn sealed_records(times: u32) -> Result<(), Box<dyn Error>> {
    let secret = Secret::generate()?;
    let [one, other] = [(); 2].map(|()| Keys::new(&Keypair::generate_ed25519(), &secret));
    let (one, other) = (one?, other?);
    let (left, right) = duplex(1 << 16);
    let (left, right) =
        futures::join!(agree(left.compat(), true, &one), agree(right.compat(), false, &other));
    let ((_, mut left), (_, mut right)) = (left?, right?);
    let (said, mut heard) = (vec![7; 4 * WORDS], vec![0; 4 * WORDS]);
    for _ in 0..times {
        let say = async {
            left.write_all(&said).await?;
            left.flush().await
        };
        let (spoken, read) = futures::join!(say, right.read_exact(&mut heard));
        spoken?;
        read?;
    }
    if heard == said { Ok(()) } else { Err("something else was heard".into()) }
}

/// A message with words, into bytes and back.
async fn frames(times: u32) -> Result<(), Box<dyn Error>> {
    let words = protocol::Words::modulo_32((0..WORDS as u32).collect());
    let numbers = Some(Numbers::Words(words));
    let message = Message { run: RunId(1), round: 0, step: 0, body: Say::State.into(), numbers };
    let frame = Frame::Message(message);
    for _ in 0..times {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &frame).await?;
        read_frame(&mut bytes.as_slice(), Limits::for_model(WORDS)).await?;
    }
    Ok(())
}
