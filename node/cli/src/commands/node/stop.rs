//! When a node is asked to stop: a signal, or the end of its parent.

use runtime::network::Control;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Who asked a process to stop; its exit code says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// ctrl-c.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// The process that started it, which has a code of its own.
    Parent,
}

impl Asked {
    /// 128 and the number of the signal, as shells have it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::Parent => 0,
        }
    }
}

/// Ready at the first signal, or when stdin ends where a parent holds it; `asked` then knows which. A second signal, or one when the node has ended its run
/// and only tidies up, ends the process at once: whatever hangs, it can be stopped.
pub(crate) fn requested(parent: Option<Control>, asked: &Arc<OnceLock<Asked>>) -> impl Future<Output = ()> {
    let (ask, heard) = tokio::sync::oneshot::channel();
    let asked = Arc::clone(asked);
    tokio::spawn(async move {
        let orphaned = async {
            match parent {
                Some(control) => listen_to_parent(control).await,
                None => std::future::pending().await,
            }
        };
        let by = tokio::select! {
            by = signalled() => by,
            () = orphaned => Asked::Parent,
        };
        let _ = asked.set(by);
        let by = if ask.send(()).is_ok() { signalled().await } else { by };
        std::process::exit(by.code().into());
    });
    async {
        // The task above lives as long as the process.
        let _ = heard.await;
    }
}

/// Lines of a parent: `peer ADDR`. Ends with its end of the pipe, so a child never outlives it.
async fn listen_to_parent(control: Control) {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match line.strip_prefix("peer ").map(str::parse) {
            Some(Ok(address)) => control.call(address),
            _ => tracing::warn!("a line on stdin that is no `peer ADDR`"),
        }
    }
}

/// Ready when somebody asks the process to end.
pub(crate) async fn signalled() -> Asked {
    Signals::new().next().await
}

/// Requests to end, one after another. None is lost between two looks, as it could be with a fresh [`signalled`] for each.
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: Vec<(tokio::signal::unix::Signal, Asked)>,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on. Needs a tokio runtime.
    pub(crate) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds =
            [(SignalKind::interrupt(), Asked::Interrupt), (SignalKind::terminate(), Asked::Terminate)];
        let listened = kinds.into_iter().filter_map(|(kind, asked)| Some((signal(kind).ok()?, asked)));
        Self { kinds: listened.collect() }
    }

    /// Ready at the next one.
    pub(crate) async fn next(&mut self) -> Asked {
        std::future::poll_fn(|context| {
            let mut kinds = self.kinds.iter_mut();
            let came = kinds.find_map(|(kind, asked)| kind.poll_recv(context).is_ready().then_some(*asked));
            came.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Listens from now on. Needs a tokio runtime.
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Ready at the next one.
    pub(crate) async fn next(&mut self) -> Asked {
        let _ = tokio::signal::ctrl_c().await;
        Asked::Interrupt
    }
}

/// While it lives a signal ends the process at once: tokio, once asked, keeps signals from doing so by themselves.
pub(crate) struct AtOnce(Arc<AtomicBool>);

impl AtOnce {
    pub(crate) fn new() -> Self {
        let armed = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&armed);
        std::thread::spawn(move || {
            let Ok(tokio) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            let asked = tokio.block_on(signalled());
            if seen.load(Ordering::SeqCst) {
                std::process::exit(asked.code().into());
            }
        });
        Self(armed)
    }
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
