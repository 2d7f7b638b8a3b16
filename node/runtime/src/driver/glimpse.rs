//! A look at the model while the node runs. A copy is made only when somebody asks.

use tokio::sync::{mpsc, oneshot};

/// Questions that wait at most; there is one judge.
const WAITING: usize = 2;

/// A model, and the round that the node was in.
pub type Seen = (u32, Vec<f32>);

/// Asks the driver for the model that its node holds now.
#[derive(Debug, Clone)]
pub struct Glimpse(mpsc::Sender<oneshot::Sender<Seen>>);

impl Glimpse {
    /// The model; `None` before the run has begun and after the node has ended.
    pub async fn model(&self) -> Option<Seen> {
        let (answer, answered) = oneshot::channel();
        self.0.send(answer).await.ok()?;
        answered.await.ok()
    }
}

/// The driver's end.
#[derive(Debug)]
pub(super) struct Glimpses {
    ask: mpsc::Sender<oneshot::Sender<Seen>>,
    pub(super) asked: mpsc::Receiver<oneshot::Sender<Seen>>,
}

impl Glimpses {
    pub(super) fn new() -> Self {
        let (ask, asked) = mpsc::channel(WAITING);
        Self { ask, asked }
    }

    pub(super) fn glimpse(&self) -> Glimpse {
        Glimpse(self.ask.clone())
    }
}
