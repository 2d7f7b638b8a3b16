//! Somebody waits for a long computation: hears how far it is, and may say that it is no longer wanted.

use super::error::NetworkError;
use super::run::Watchers;
use rayon::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The waiting side of a computation over many coalitions. Neither changes a figure.
#[derive(Clone, Copy)]
pub struct Waiting<'a> {
    progress: &'a (dyn Fn(usize, usize) + Sync),
    stop: Option<&'a AtomicBool>,
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl<'a> Waiting<'a> {
    /// `progress` is called with the number of coalitions done since the last call and the number of all, from several threads.
    pub fn new(progress: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        Self { progress, stop: None }
    }

    /// Nobody looks, nobody interrupts.
    pub fn patiently() -> Self {
        Self::new(&|_, _| {})
    }

    /// Once `stop` is true the computation ends with [`NetworkError::Stopped`], at the latest after the rows that are being computed.
    #[must_use]
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The same interruption, and somebody else who hears how far it is.
    #[must_use]
    pub(crate) fn told(self, progress: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        Self { progress, ..self }
    }

    /// Refuses to go on when nobody wants the result any more.
    pub(crate) fn go_on(&self) -> Result<(), NetworkError> {
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(NetworkError::Stopped),
            _ => Ok(()),
        }
    }

    /// Says that this many of all are done since the last time.
    pub(crate) fn done(&self, now: usize, all: usize) {
        (self.progress)(now, all);
    }

    /// One row for each coalition, in parallel, into `out`.
    pub(crate) fn fill_rows(
        &self,
        coalitions: &[Watchers],
        out: &mut [f64],
        row: impl Fn(&Watchers) -> Result<Vec<f64>, NetworkError> + Sync,
    ) -> Result<(), NetworkError> {
        let Some(nodes) = out.len().checked_div(coalitions.len()) else { return Ok(()) };
        out.par_chunks_exact_mut(nodes).zip(coalitions).try_for_each(|(slot, watchers)| {
            self.go_on()?;
            slot.copy_from_slice(&row(watchers)?);
            self.done(1, coalitions.len());
            Ok(())
        })
    }
}
