//! When a node is asked to stop: a signal, or the end of its parent.

use runtime::network::Control;
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
#[cfg(unix)]
pub(crate) async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

/// Ready when somebody asks the process to end.
#[cfg(not(unix))]
pub(crate) async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}
