//! Who is watched, and by whom, where nobody is named; one run that is looked at for it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use protocol::{LogLine, PeerIx, Setup};
use sim::{Delivery, Hook, Options, simulate_with};

use crate::claim::Claim;
use crate::logged::Logged;
use crate::visits::Visits;
use crate::{AuditError, Request, Sabotage};

/// Nodes up to which all pairs of a walk are compared.
const MOST_COMPARED: usize = 64;

/// One run of the scenario before the attacks: who contributed when, and how many messages went from whom to whom.
pub(crate) struct Survey {
    pub(crate) log: Vec<LogLine>,
    pub(crate) visits: Visits,
    messages: BTreeMap<(PeerIx, PeerIx), u64>,
}

impl Survey {
    pub(crate) fn make(setup: &Setup) -> Result<Self, AuditError> {
        let traffic = Traffic::default();
        let mut log = Vec::new();
        let mut sink = |line: &LogLine| log.push(line.clone());
        let options = Options { threads: 1, ..Options::default() };
        simulate_with(setup, &options, &traffic, &mut sink, &mut |_| ())?;
        let visits = Visits::of(&log);
        Ok(Self { visits, log, messages: traffic.0.into_inner().expect("no holder panics") })
    }

    /// Source and watchers: those that were asked for; else those that lost most, by the account of the log that was given, or of this run. Where several pairs lost
    /// the same, as all do where only `local` applies, the one with most messages from source to watcher. In a walk see [`Self::walked`]:
    /// where only `local` applies, the account says the same of a watcher that saw a node alone and of one that never saw it, and an attack by the latter shows nothing.
    pub(crate) fn choose(
        &self,
        request: &Request,
        setup: &Setup,
        log: Option<&Logged>,
    ) -> Result<(usize, Vec<usize>), AuditError> {
        let delta = setup.config.privacy.delta;
        let mut claim = match log {
            Some(log) => Claim::of_log(log, delta)?,
            None => Claim::of_run(setup, &self.log, delta)?,
        };
        if !request.coalition.is_empty() {
            let watchers = request.pooled();
            let source = match request.pair {
                Some((source, _)) => source,
                None => claim.worst_source(&watchers)?,
            };
            return Ok((source, watchers));
        }
        if let Some((source, watcher)) = request.pair {
            return Ok((source, vec![watcher]));
        }
        let (source, watcher) = self.walked(request, setup, &mut claim).unwrap_or_else(|| {
            claim.worst_pair(|source, watcher| {
                self.messages.get(&(source as PeerIx, watcher as PeerIx)).copied().unwrap_or(0)
            })
        });
        Ok((source, vec![watcher]))
    }

    /// Of a walk, the pair at which half of the noise would stand out most against what the account says. Where noise is reused, the one where that stands out: it shows only
    /// to a watcher that sees it twice in like company.
    fn walked(&self, request: &Request, setup: &Setup, claim: &mut Claim) -> Option<(usize, usize)> {
        if !self.visits.is_walk() || setup.config.nodes > MOST_COMPARED {
            return None;
        }
        let claimed = claim.mu2_of_all();
        let noise = setup.work.noise_multiplier;
        largest(setup.config.nodes, |(source, watcher)| {
            let seen = match request.sabotage {
                Some(Sabotage::NoiseReused) => self.visits.plan(source, &[watcher]).shown,
                _ => 4.0 * self.visits.seen(source, watcher),
            };
            let margin = seen.sqrt() / noise - claimed((source, watcher)).sqrt();
            (seen > 0.0 && margin.is_finite()).then_some(margin)
        })
    }
}

/// The pair with the largest value, where any has one.
fn largest(nodes: usize, value: impl Fn((usize, usize)) -> Option<f64>) -> Option<(usize, usize)> {
    let mut best = None;
    for source in 0..nodes {
        for watcher in (0..nodes).filter(|&watcher| watcher != source) {
            if let Some(found) = value((source, watcher))
                && best.is_none_or(|(most, _)| found > most)
            {
                best = Some((found, (source, watcher)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// Messages with numbers, by sender and receiver.
#[derive(Default)]
struct Traffic(Mutex<BTreeMap<(PeerIx, PeerIx), u64>>);

impl Hook for Traffic {
    fn delivered(&self, delivery: &Delivery<'_>) {
        if delivery.message.numbers.is_some() {
            let mut counts = self.0.lock().expect("no holder panics");
            *counts.entry((delivery.from, delivery.to)).or_default() += 1;
        }
    }
}
