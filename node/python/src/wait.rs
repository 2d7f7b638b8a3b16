//! Long calls: the work is done on a thread of its own, the interpreter is free meanwhile, and the calling thread wakes ten times a second
//! to look for ctrl-c and to tell progress.

use crate::error::Trouble;
use privacy::network::Waiting;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often the calling thread looks up.
const LOOK: Duration = Duration::from_millis(100);

/// The process that loaded this module: threads do not survive `os.fork`, so its children cannot compute.
static LOADED_BY: AtomicU32 = AtomicU32::new(0);

/// To be called once, when the module is loaded.
pub(crate) fn remember_process() {
    LOADED_BY.store(std::process::id(), Ordering::Relaxed);
}

/// What both threads see.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    done: AtomicUsize,
    all: AtomicUsize,
    stop: AtomicBool,
}

/// The work was stopped: payload of an unwinding that is not a panic.
struct Stopped;

impl Shared {
    /// Counts what is done.
    pub(crate) fn teller(&self) -> impl Fn(usize, usize) + Sync {
        move |now: usize, all: usize| {
            self.all.store(all, Ordering::Relaxed);
            self.done.fetch_add(now, Ordering::Relaxed);
        }
    }

    /// For work that can be asked to stop.
    pub(crate) fn waiting<'a>(&'a self, teller: &'a (dyn Fn(usize, usize) + Sync)) -> Waiting<'a> {
        Waiting::new(teller).until(&self.stop)
    }

    /// Says how far the work is.
    pub(crate) fn tell(&self, done: usize, all: usize) {
        self.all.store(all, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }

    /// For work that cannot be asked to stop but calls back now and then: leaves it by unwinding, which is no panic and prints nothing.
    pub(crate) fn leave_if_stopped(&self) {
        if self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Who called: how many threads, and who is to be told how far it is.
pub(crate) struct Caller {
    /// 0: as many as there are cores.
    pub(crate) threads: usize,
    /// Called with (done, all) from the calling thread.
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Caller {
    /// Does the work elsewhere and waits for it.
    ///
    /// On ctrl-c, or where `progress` raises, it returns at once: the work ends at its next chance.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Shared) -> Result<T, Trouble> + Send + 'static,
    ) -> PyResult<T> {
        if LOADED_BY.load(Ordering::Relaxed) != std::process::id() {
            let hint = "use the start method `spawn` of multiprocessing, which loads murmuration anew";
            let message = "murmuration was loaded before os.fork, and its threads are not in this process";
            return Err(Trouble::new(message, Some(hint.into())).raised(py));
        }
        let shared = Arc::new(Shared::default());
        let (send, receive) = channel();
        let (theirs, threads) = (shared.clone(), self.threads);
        std::thread::spawn(move || {
            // Whoever no longer listens does not want the result.
            let _ = send.send(on_threads(threads, || work(&theirs)));
        });
        let ended = self.until_done(py, &shared, Mutex::new(receive));
        if ended.is_err() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        ended?.map_err(|trouble| trouble.raised(py))
    }

    fn until_done<T: Send>(
        &self,
        py: Python<'_>,
        shared: &Shared,
        receive: Mutex<Receiver<Result<T, Trouble>>>,
    ) -> PyResult<Result<T, Trouble>> {
        let mut told = 0;
        loop {
            let found = py.detach(|| match receive.lock() {
                Ok(receive) => receive.recv_timeout(LOOK),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match found {
                Ok(result) => {
                    self.tell(py, shared, &mut told)?;
                    return Ok(result);
                }
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals()?;
                    self.tell(py, shared, &mut told)?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err(
                        "the computation died: this is a fault of murmuration",
                    ));
                }
            }
        }
    }

    fn tell(&self, py: Python<'_>, shared: &Shared, told: &mut usize) -> PyResult<()> {
        let (done, all) = (shared.done.load(Ordering::Relaxed), shared.all.load(Ordering::Relaxed));
        let Some(progress) = self.progress.as_ref().filter(|_| done != *told) else { return Ok(()) };
        *told = done;
        progress.call1(py, (done, all)).map(drop)
    }
}

fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Trouble> + Send,
) -> Result<T, Trouble> {
    if threads == 0 {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Trouble::of(&error, Some("use threads=1".into())))?.install(work)
}
