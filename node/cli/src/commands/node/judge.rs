//! How good the node's model is, now and then while it runs. For the page and the node's own metrics: nothing of it is sent, and nothing is in the log.

use super::metrics::Metrics;
use super::told::Told;
use dashboard::{Board, Judged, Vitals};
use learn::data::Dataset;
use learn::metrics;
use learn::model::{self, Model};
use protocol::Setup;
use protocol::work::{Layout, own_slot};
use runtime::driver::{Glimpse, Status};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Judged so often at most, and never for more than one part in so many of the time.
const PAUSE: Duration = Duration::from_secs(1);
const SHARE: u32 = 50;
/// The page hears of the node so often at most.
const VITALS_PAUSE: Duration = Duration::from_millis(100);

/// Judges models on a test set.
pub(super) struct Judge {
    model: Arc<dyn Model>,
    /// Which of several models is the node's is seen by its own records.
    layout: Layout,
    own: Dataset,
    test: Arc<Dataset>,
}

impl Judge {
    /// A judge, where there is something to judge by.
    pub(super) fn new(setup: &Setup) -> Option<Self> {
        if !setup.config.algorithm.kind.trains() {
            return None;
        }
        let (layout, own) = (setup.layout, setup.train.first()?.clone());
        Some(Self { model: setup.model.clone(), layout, own, test: Arc::new(setup.test.clone()?) })
    }

    /// Judges whatever `glimpse` sees, for as long as somebody wants to know.
    /// Every judgement is a row of the node's metrics.
    pub(super) fn start(
        self,
        glimpse: Glimpse,
        (metrics, status): (Metrics, watch::Receiver<Status>),
    ) -> watch::Receiver<Option<Judged>> {
        let (send, judged) = watch::channel(None);
        tokio::spawn(async move {
            let mut last = None;
            while !send.is_closed() {
                let mut cost = Duration::ZERO;
                if let Some((round, params)) = glimpse.model().await.filter(|(round, _)| last != Some(*round))
                {
                    last = Some(round);
                    let (about, test) = (self.model.clone(), self.test.clone());
                    let begun = Instant::now();
                    let (layout, own) = (self.layout, self.own.clone());
                    let judge = move || {
                        let slot = own_slot(about.as_ref(), &layout, &params, &own).unwrap_or(0);
                        judge(about.as_ref(), layout.part(&params, slot), &test, round)
                    };
                    if let Ok(found) = tokio::task::spawn_blocking(judge).await {
                        metrics.add(&found, status.borrow().loss);
                        send.send_replace(Some(found));
                    }
                    cost = begun.elapsed();
                }
                tokio::time::sleep(PAUSE.max(cost * SHARE)).await;
            }
        });
        judged
    }
}

fn judge(about: &dyn Model, params: &[f32], test: &Dataset, round: u32) -> Judged {
    let predicted = model::predict(about, params, test).ok().and_then(|found| found.labels());
    let accuracy =
        predicted.zip(test.labels()).and_then(|(found, truth)| metrics::accuracy(&found, &truth).ok());
    let loss = model::loss(about, params, test).ok().filter(|loss| loss.is_finite());
    Judged { round, accuracy, loss }
}

/// Tells the page how the node is until the node ends.
pub(super) async fn tell(
    board: Board,
    mut status: watch::Receiver<Status>,
    judged: Option<watch::Receiver<Option<Judged>>>,
) {
    loop {
        let picture = status.borrow_and_update().clone();
        let judged = judged.as_ref().and_then(|judged| *judged.borrow());
        let linked = Some(picture.linked.clone());
        board.vitals(0, Vitals { linked, ..Told { time: 0, status: picture, judged }.vitals() });
        if status.changed().await.is_err() {
            return;
        }
        tokio::time::sleep(VITALS_PAUSE).await;
    }
}
