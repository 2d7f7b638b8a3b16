//! The live page of a run: a fold over its log, served read-only over HTTP.
//!
//! ```text
//! log files, board  ->  fold (a thread)  ->  picture  ->  server (a thread)  ->  browser, Prometheus
//! ```
//!
//! [`Dashboard::start`] follows the logs of one node or of a whole swarm, as the nodes write them for themselves, and never talks to the node: whatever happens
//! here costs the run nothing but a share of a processor. Everything is bounded: what is remembered, how often pictures are made, how many visitors there are.
//!
//! ```
//! use dashboard::Place;
//!
//! let place = Place::take("127.0.0.1:0", None)?;
//! assert!(place.url().starts_with("http://127.0.0.1:"));
//! // Whoever can be reached by others must ask for a token.
//! assert!(Place::take("0.0.0.0:0", None).is_err());
//! # Ok::<(), dashboard::StartError>(())
//! ```

mod address;
mod board;
mod cost;
mod facts;
mod fold;
mod follow;
mod health;
mod metrics;
mod price;
mod publish;
mod scene;
mod server;
mod state;
#[cfg(test)]
#[path = "../tests/synthetic/mod.rs"]
mod testing;
mod view;

use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};

use tokio::sync::oneshot;

pub use address::{Place, StartError};
pub use board::Board;
pub use cost::{Cost, Figure};
pub use facts::{Facts, Only, Outline};
pub use scene::Scene;
pub use state::row::{Judged, Quality, Vitals};

use board::End;
use fold::Fold;

/// What the page answers to these bytes: for fuzzing. Its run is called `a-secret-run`, and visitors need `token`.
#[doc(hidden)]
pub fn heard(bytes: &[u8], token: &str) -> Vec<u8> {
    let Ok(config) = protocol::config::Config::from_toml("name = \"a-secret-run\"\nnodes = 2", "fuzz") else {
        return Vec::new();
    };
    let fold = Fold::new(Outline::of(&config, Only::Everybody), Vec::new(), Board::new(0));
    server::heard(bytes, token, fold.publisher().pictures()).unwrap_or_default()
}

/// A page that is being served.
#[derive(Debug)]
pub struct Dashboard {
    board: Board,
    fold: Option<JoinHandle<()>>,
    server: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Dashboard {
    /// Serves the run of `outline` at `place`, as `logs` tell it: one file per node in the order of positions, or the one of a node alone. Files need not
    /// exist yet. `facts` may take its time: it is called in a thread, and the page is there before it is done.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub fn start(
        place: Place,
        outline: Outline,
        logs: Vec<PathBuf>,
        facts: impl FnOnce() -> Result<Facts, String> + Send + 'static,
    ) -> Result<Self, StartError> {
        let board = Board::new(logs.len());
        let fold = Fold::new(outline, logs, board.clone());
        let pictures = fold.publisher().pictures();
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            if let Err(error) = server::serve(place, pictures, stopped) {
                tracing::warn!(%error, "the page is not served any more");
            }
        };
        let server = Builder::new().name("dashboard".into()).spawn(serve).map_err(StartError::Thread)?;
        let folds = Builder::new().name("dashboard-fold".into()).spawn(move || fold.run(Box::new(facts)));
        Ok(Self { board, fold: Some(folds.map_err(StartError::Thread)?), server: Some((stop, server)) })
    }

    /// Where processes write how they are.
    pub fn board(&self) -> Board {
        self.board.clone()
    }

    /// The run is over: makes the last picture, which stays until [`close`](Self::close).
    pub fn finish(&mut self, reason: impl Into<String>) {
        self.board.over(End::Finished(reason.into()));
        if let Some(fold) = self.fold.take() {
            // A panic there is a page without a last picture, and nothing more.
            let _ = fold.join();
        }
    }

    /// Ends the service; visitors have a moment to take the last picture.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.board.over(End::Abandoned);
        if let Some((stop, server)) = self.server.take() {
            let _ = stop.send(());
            let _ = server.join();
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.end();
    }
}
