//! How good the node's model is, now and then while it runs. For the page and the node's own metrics: nothing of it is sent, and nothing is in the log.

use super::metrics::Metrics;
use super::quality::Exam;
use super::told::Told;
use dashboard::{Board, Judged, Quality, Vitals};
use learn::data::Dataset;
use learn::evaluation::evaluate;
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
    /// To say what the node would reach alone, where somebody looks.
    exam: Option<Exam>,
}

impl Judge {
    /// A judge, where there is something to judge by; `with_alone` trains a model to compare with.
    pub(super) fn new(setup: &Setup, with_alone: bool) -> Option<Self> {
        if !setup.config.algorithm.kind.trains() {
            return None;
        }
        let (layout, own) = (setup.layout, setup.train.first()?.clone());
        let exam = Exam::of(setup).filter(|_| with_alone);
        Some(Self { model: setup.model.clone(), layout, own, test: Arc::new(setup.test.clone()?), exam })
    }

    /// Judges whatever `glimpse` sees, for as long as somebody wants to know.
    /// Every judgement is a row of the node's metrics.
    pub(super) fn start(
        mut self,
        glimpse: Glimpse,
        (metrics, status): (Metrics, watch::Receiver<Status>),
    ) -> watch::Receiver<Option<Judged>> {
        let (send, judged) = watch::channel(None);
        tokio::spawn(async move {
            let mut last = None;
            let exam = self.exam.take();
            let mut training = exam.map(|exam| tokio::task::spawn_blocking(move || exam.accuracy_alone()));
            let mut alone = None;
            while !send.is_closed() {
                let mut cost = Duration::ZERO;
                if let Some(done) = training.take_if(|training| training.is_finished()) {
                    alone = done.await.ok().flatten();
                }
                if let Some((round, params)) = glimpse.model().await.filter(|(round, _)| last != Some(*round))
                {
                    last = Some(round);
                    let (about, test) = (self.model.clone(), self.test.clone());
                    let begun = Instant::now();
                    let (layout, own) = (self.layout, self.own.clone());
                    let judge = move || {
                        let slot = own_slot(about.as_ref(), &layout, &params, &own).unwrap_or(0);
                        judge(about.as_ref(), layout.part(&params, slot), &test, (round, alone))
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

fn judge(about: &dyn Model, params: &[f32], test: &Dataset, (round, alone): (u32, Option<f64>)) -> Judged {
    let found = evaluate(about, params, test).unwrap_or_default();
    let loss = model::loss(about, params, test).ok().filter(|loss| loss.is_finite());
    let quality = Quality {
        auc: found.auc,
        log_loss: found.log_loss.filter(|loss| loss.is_finite()),
        calibration: found.calibration,
        base_rate: found.base_rate,
        alone,
    };
    Judged { round, accuracy: found.accuracy, loss, quality }
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
