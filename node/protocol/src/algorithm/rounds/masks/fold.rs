//! Masked rounds, folded: every contribution costs what its roster makes of it, however its round went.

use std::collections::{BTreeMap, BTreeSet};

use privacy::network::{NetworkError, Watchers};

use super::graph::split_chance;
use super::settings::{joined, leverage_on};
use crate::account::{Shape, Table, Tally};
use crate::algorithm::Fold;
use crate::event::RunEvent;

/// The name of the analysis.
const NAME: &str = "masked";

/// The state of the fold.
#[derive(Debug, Clone, Default)]
pub(crate) struct MaskedFold {
    /// How often each node contributed, by the kind of contribution, the size of the roster, and with how many others it shared streams (0: all).
    made: BTreeMap<(usize, usize, usize, u32), u64>,
    /// With how many others a node shares streams at present, where it is not with all.
    sharing: BTreeMap<usize, u32>,
    /// Epochs whose rosters had a sparse graph: each may have been split, with a chance that goes into δ.
    sparse: BTreeSet<u32>,
    /// Whether a round was looked into: bounds on what that shows may fail, with a chance that goes into δ.
    looked: bool,
    /// How often the run was renewed: each part has bounds of its own.
    renewed: BTreeSet<u32>,
    begun: BTreeSet<u32>,
    ended: BTreeSet<u32>,
}

impl MaskedFold {
    /// One contribution. Where nothing says among how many, nobody hid it.
    fn charge(&mut self, shape: &Shape, tally: &mut Tally, (node, kind): (usize, usize), among: Option<u32>) {
        let among = among.map_or(1, |among| (among as usize).min(shape.nodes));
        let neighbours = self.sharing.get(&node).copied().unwrap_or(0);
        *self.made.entry((node, kind, among, neighbours)).or_insert(0) += 1;
        tally.charge_everybody(node, kind, joined(leverage_on(neighbours, among, 1), shape.looked));
    }

    /// What every node lost towards so many who pool what they saw, in the units of the tally.
    fn spent(&self, shape: &Shape, tally: &mut Tally, watchers: usize) -> Vec<f64> {
        let mut total = vec![0.0; tally.in_full().len()];
        let mut priced = BTreeMap::new();
        for (&(source, kind, among, neighbours), &count) in &self.made {
            let leverage = priced
                .entry((among, neighbours))
                .or_insert_with(|| joined(leverage_on(neighbours, among, watchers), shape.looked));
            tally.price_times(&mut total, (source, kind), *leverage, count);
        }
        total
    }

    fn epsilons(&self, shape: &Shape, tally: &mut Tally, watchers: usize, local: &[f64]) -> Vec<f64> {
        let spent = self.spent(shape, tally, watchers);
        let looked = if self.looked || shape.looked > 0.0 {
            shape.algorithm.look_chance() * (1 + self.renewed.len()) as f64
        } else {
            0.0
        };
        let delta = shape.delta - split_chance(self.sparse.len() as u64) - looked;
        let epsilon = |spent: &[f64]| {
            if delta > 0.0 { tally.units.epsilon(spent, delta) } else { f64::INFINITY }
        };
        spent
            .chunks_exact(tally.units.len())
            .zip(local)
            .map(|(spent, &local)| epsilon(spent).min(local))
            .collect()
    }
}

impl Fold for MaskedFold {
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Released { round, release, among, .. } => {
                // What is released to everybody is a look.
                self.looked |= among.is_none();
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                self.charge(shape, tally, (node, kind), *among);
                self.begun.insert(*round);
            }
            RunEvent::RoundDone { round, .. } => {
                self.ended.insert(*round);
            }
            RunEvent::Roster { .. } => {
                self.sharing.remove(&node);
            }
            RunEvent::Renewed(renewed) => {
                self.renewed.insert(renewed.number);
            }
            RunEvent::Streams { epoch, neighbours, .. } => {
                self.sharing.insert(node, *neighbours);
                self.sparse.insert(*epoch);
            }
            _ => {}
        }
    }

    /// Each may have been looked into.
    fn room(&self, shape: &Shape) -> u64 {
        let attempts = shape.algorithm.attempts(shape.rounds);
        u64::from(shape.rounds.saturating_mul(2).max(attempts))
    }

    fn on_record(&mut self, shape: &Shape, tally: &mut Tally, release: (usize, usize), among: Option<u32>) {
        self.charge(shape, tally, release, among);
    }

    fn broken(&self) -> u64 {
        self.begun.difference(&self.ended).count() as u64
    }

    fn table(&self, shape: &Shape, tally: &mut Tally, watchers: Vec<usize>, local: &[f64]) -> Table {
        let all = self.epsilons(shape, tally, 1, local);
        Table::alike(watchers, &all, local, NAME)
    }

    fn coalition(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        watchers: &Watchers,
        epsilons: &mut [f64],
    ) -> Result<String, NetworkError> {
        let found = self.epsilons(shape, tally, watchers.members().len(), epsilons);
        epsilons.copy_from_slice(&found);
        Ok(NAME.to_owned())
    }

    fn towards_any(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        count: usize,
        local: &[f64],
    ) -> Option<(Vec<f64>, &'static str)> {
        Some((self.epsilons(shape, tally, count, local), NAME))
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}
