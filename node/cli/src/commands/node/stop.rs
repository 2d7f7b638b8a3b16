//! When a node is asked to stop: a signal, or the end of its parent.

use runtime::network::Control;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Ready at the first signal, or when stdin ends where a parent holds it. A second signal, or one when the node has ended its run and only tidies up,
/// ends the process at once: whatever hangs, it can be stopped.
pub(super) fn requested(parent: Option<Control>) -> impl Future<Output = ()> {
    let (ask, asked) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let orphaned = async {
            match parent {
                Some(control) => listen_to_parent(control).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = signalled() => {}
            () = orphaned => {}
        }
        if ask.send(()).is_ok() {
            signalled().await;
        }
        std::process::exit(130);
    });
    async {
        // The task above lives as long as the process.
        let _ = asked.await;
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
pub(crate) async fn signalled() {
    Signals::new().next().await;
}

/// Requests to end, one after another. None is lost between two looks, as it could be with a fresh [`signalled`] for each.
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: Vec<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on. Needs a tokio runtime.
    pub(crate) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        Self { kinds: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Ready at the next one.
    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.kinds.iter_mut().any(|kind| kind.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Listens from now on. Needs a tokio runtime.
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Ready at the next one.
    pub(crate) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
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
            tokio.block_on(signalled());
            if seen.load(Ordering::SeqCst) {
                std::process::exit(130);
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
