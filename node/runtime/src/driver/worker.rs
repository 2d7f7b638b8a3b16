//! The thread that computes contributions: data and noise live here, off the network.

use std::sync::Arc;

use learn::data::Dataset;
use learn::gradient::Workspace;
use learn::model::Model;
use learn::train::TrainError;
use privacy::noise::SystemNoise;
use protocol::PeerIx;
use protocol::work::{Computed, Job, WorkSettings, contribute};
use tokio::sync::mpsc;

use super::SeededNoises;

/// What contributions are made of.
pub(crate) struct Work {
    pub(crate) settings: Arc<WorkSettings>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) data: Dataset,
    pub(crate) noise: Noise,
}

/// Where the noise of contributions comes from.
pub(crate) enum Noise {
    /// The operating system.
    Private(SystemNoise),
    /// A function of the node and the number of the contribution.
    Danger(SeededNoises),
}

/// The near end of the thread.
pub(crate) struct Worker {
    jobs: std::sync::mpsc::Sender<(PeerIx, Job)>,
    /// What came out, in order.
    pub(crate) results: mpsc::Receiver<Result<Computed, TrainError>>,
}

impl Worker {
    /// Starts the thread; it ends when the worker is dropped.
    pub(crate) fn start(mut work: Work) -> std::io::Result<Self> {
        let (jobs, incoming) = std::sync::mpsc::channel::<(PeerIx, Job)>();
        let (done, results) = mpsc::channel(4);
        let compute = move || {
            // As many lanes as in the simulator: another number rounds differently.
            let mut workspace = Workspace::with_lanes(work.model.as_ref(), 1);
            let mut count = 0;
            while let Ok((me, job)) = incoming.recv() {
                let about = (work.model.as_ref(), &work.data);
                let result = match &mut work.noise {
                    Noise::Private(noise) => contribute(&work.settings, about, &job, &mut workspace, noise),
                    Noise::Danger(noises) => {
                        contribute(&work.settings, about, &job, &mut workspace, &mut noises(me, count))
                    }
                };
                count += 1;
                if done.blocking_send(result).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("contributions".into()).spawn(compute)?;
        Ok(Self { jobs, results })
    }

    /// Queues a job; a node asks for one at a time and token.
    pub(crate) fn compute(&self, me: PeerIx, job: Job) {
        // The thread ends only after us.
        let _ = self.jobs.send((me, job));
    }
}
