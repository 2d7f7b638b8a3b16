//! The threads that compute contributions: data and noise live here, off the network. Noise alone has a thread of its own: a contribution that takes long does not keep a round
//! waiting for it.

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

/// The near end of a thread.
type Jobs = std::sync::mpsc::Sender<(PeerIx, Job)>;

/// The near end of the threads.
pub(crate) struct Worker {
    jobs: Jobs,
    /// Where noise alone is made; on the one thread where noise is a function of the number of the contribution.
    noises: Option<Jobs>,
    /// What came out.
    pub(crate) results: mpsc::Receiver<Result<Computed, DriverError>>,
}

impl Worker {
    /// Starts the threads; they end when the worker is dropped.
    pub(crate) fn start(bench: Bench) -> std::io::Result<Self> {
        let (done, results) = mpsc::channel(4);
        let noises = match bench.without_data() {
            Some(alone) => Some(thread("noises", alone, done.clone())?),
            None => None,
        };
        Ok(Self { jobs: thread("contributions", bench, done)?, noises, results })
    }

    /// Queues a job; a node asks for one at a time and token.
    pub(crate) fn compute(&self, me: PeerIx, job: Job) {
        let noises = self.noises.as_ref().filter(|_| job.only_noise);
        // The threads end only after us.
        let _ = noises.unwrap_or(&self.jobs).send((me, job));
    }
}

fn thread(
    name: &str,
    mut bench: Bench,
    done: mpsc::Sender<Result<Computed, DriverError>>,
) -> std::io::Result<Jobs> {
    let (jobs, incoming) = std::sync::mpsc::channel::<(PeerIx, Job)>();
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
    std::thread::Builder::new().name(name.into()).spawn(compute)?;
    Ok(jobs)
}

impl Bench {
    /// One that makes noise alone, where that needs nothing of this one.
    fn without_data(&self) -> Option<Self> {
        let Noise::Private(_) = &self.noise else { return None };
        let noise = Noise::Private(SystemNoise::new().ok()?);
        Some(Self { work: self.work.clone(), noise, kept: Kept::default() })
    }

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
