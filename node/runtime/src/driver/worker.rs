//! The thread that computes contributions: data and noise live here, off the network.

use std::sync::Arc;

use privacy::noise::{NoiseSource, SystemNoise};
use protocol::PeerIx;
use protocol::work::{Computed, Desk, Job, Room, Work, carry_out};
use tokio::sync::mpsc;

use super::kept::Kept;
use super::{DriverError, SeededNoises};

/// What contributions are made with.
pub(crate) struct Bench {
    pub(crate) work: Arc<dyn Work>,
    pub(crate) noise: Noise,
    pub(crate) kept: Kept,
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
    pub(crate) results: mpsc::Receiver<Result<Computed, DriverError>>,
}

impl Worker {
    /// Starts the thread; it ends when the worker is dropped.
    pub(crate) fn start(mut bench: Bench) -> std::io::Result<Self> {
        let (jobs, incoming) = std::sync::mpsc::channel::<(PeerIx, Job)>();
        let (done, results) = mpsc::channel(4);
        let compute = move || {
            let (mut room, mut count) = (Room::default(), 0);
            while let Ok((me, job)) = incoming.recv() {
                let result = bench.contribute((me, count), &job, &mut room);
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

impl Bench {
    /// One contribution. What it keeps is on disk when it is handed on.
    fn contribute(
        &mut self,
        (me, count): (PeerIx, u32),
        job: &Job,
        room: &mut Room,
    ) -> Result<Computed, DriverError> {
        let mut seeded;
        let noise: &mut dyn NoiseSource = match &mut self.noise {
            Noise::Private(noise) => noise,
            Noise::Danger(noises) => {
                seeded = noises(me, count);
                &mut seeded
            }
        };
        let desk = &mut Desk { node: 0, position: me, room, state: &mut self.kept.state };
        let computed = carry_out(self.work.as_ref(), desk, job, noise)?;
        self.kept.save()?;
        Ok(computed)
    }
}
