//! Which pair is audited where none is named.

use std::collections::BTreeMap;
use std::sync::Mutex;

use protocol::{LogLine, PeerIx, Setup};
use sim::{Delivery, Hook, Options, simulate_with};

use crate::AuditError;
use crate::claim::{self, Claim};

/// The pair that lost most, by the account of the log that was given, or of one run. Where several lost the same, as all do where only `local` applies, the one
/// with most messages from source to watcher.
pub(crate) fn worst(setup: &Setup, log: Option<&[LogLine]>) -> Result<(usize, usize), AuditError> {
    let traffic = Traffic::default();
    let mut simulated = Vec::new();
    let mut sink = |line: &LogLine| simulated.push(line.clone());
    simulate_with(setup, &Options { threads: 1, ..Options::default() }, &traffic, &mut sink, &mut |_| ())?;
    if let Some(log) = log {
        claim::check_complete(log, &simulated)?;
    }
    let claim = Claim::new(setup, log.unwrap_or(&simulated), setup.config.privacy.delta)?;
    let messages = traffic.0.into_inner().expect("no holder panics");
    Ok(claim.worst_pair(|source, watcher| {
        messages.get(&(source as PeerIx, watcher as PeerIx)).copied().unwrap_or(0)
    }))
}

/// Messages with numbers, by sender and receiver.
#[derive(Default)]
struct Traffic(Mutex<BTreeMap<(PeerIx, PeerIx), u64>>);

impl Hook for Traffic {
    fn delivered(&self, delivery: &Delivery<'_>) {
        if delivery.message.body.values().is_some() {
            let mut counts = self.0.lock().expect("no holder panics");
            *counts.entry((delivery.from, delivery.to)).or_default() += 1;
        }
    }
}
