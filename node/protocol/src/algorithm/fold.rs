//! An algorithm as its log is priced.

use std::fmt::Debug;

use privacy::network::{NetworkError, Watchers};

use crate::account::units::{self, NOTHING_ELSE};
use crate::account::{Shape, Table, Tally, epsilon_of_mu2};
use crate::event::RunEvent;

/// Unit losses towards each coalition, and the analysis; or why there is none but `local`, empty where nothing was contributed.
pub(crate) type Priced = Result<(Vec<Vec<f64>>, &'static str), &'static str>;

/// A fold over the lines of a run.
///
/// # Guarantee
/// At any time its figures bound what the lines so far can have revealed; what is not settled, and what no analysis covers, counts in full.
///
/// # Assumes
/// As the [`Account`](crate::account::Account).
pub(crate) trait Fold: Debug + Send + Sync {
    /// Takes the next line of a node; contributions are counted in the tally.
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent);

    /// The run is over.
    fn end(&mut self, _shape: &Shape, _tally: &mut Tally) {}

    /// A contribution is known of which there is no line: what was in it may have reached others by ways that no line tells of.
    fn lost_line(&mut self) {}

    /// The most contributions of one node for which the run has room.
    fn room(&self, shape: &Shape) -> u64 {
        u64::from(shape.rounds)
    }

    /// A contribution of which only a ledger knows, with the size of its roster where that is on record: charged in full, where nothing better holds.
    fn on_record(
        &mut self,
        _shape: &Shape,
        tally: &mut Tally,
        (node, kind): (usize, usize),
        _among: Option<u32>,
    ) {
        tally.charge_in_full(node, kind);
    }

    /// Contributions that are not settled yet, with their kinds.
    fn unsettled(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Rounds that were charged in full.
    fn broken(&self) -> u64 {
        0
    }

    /// Losses of the whole run towards coalitions, for algorithms that are priced so.
    fn units(&self, _shape: &Shape, _coalitions: &[Watchers]) -> Priced {
        Err("")
    }

    /// ε of all pairs with these watchers.
    fn table(&self, shape: &Shape, tally: &mut Tally, watchers: Vec<usize>, local: &[f64]) -> Table {
        let alone: Result<Vec<Watchers>, NetworkError> =
            watchers.iter().map(|&watcher| Watchers::new(&[watcher], shape.nodes)).collect();
        match alone.map_err(|_| NOTHING_ELSE).and_then(|alone| self.units(shape, &alone)) {
            Ok((found, name)) => {
                let mu2 = units::scaled(shape, tally, &found);
                Table::of_mu2(watchers, &mu2, (local, shape.delta), name.to_owned())
            }
            Err(why) => Table::local(watchers, local, why),
        }
    }

    /// ε of `source` towards `watcher`, another node.
    fn epsilon(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        (source, watcher): (usize, usize),
        local: &[f64],
    ) -> f64 {
        self.table(shape, tally, vec![watcher], local).rows[0][source]
    }

    /// Lowers the local ε of every node to that towards nodes that pool what they saw; returns the analysis.
    fn coalition(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        watchers: &Watchers,
        epsilons: &mut [f64],
    ) -> Result<String, NetworkError> {
        Ok(match self.units(shape, std::slice::from_ref(watchers)) {
            Ok((found, name)) => {
                for (epsilon, mu2) in epsilons.iter_mut().zip(&units::scaled(shape, tally, &found)[0]) {
                    *epsilon = epsilon.min(epsilon_of_mu2(*mu2, shape.delta));
                }
                name.to_owned()
            }
            Err("") => "local".to_owned(),
            Err(why) => format!("local ({why})"),
        })
    }

    /// ε of every node towards any `count` others that pool what they saw, whoever they are, and the analysis; `None` where only `local` is known
    /// to hold for all of them.
    fn towards_any(
        &self,
        _shape: &Shape,
        _tally: &mut Tally,
        _count: usize,
        _local: &[f64],
    ) -> Option<(Vec<f64>, &'static str)> {
        None
    }

    /// Pairwise noise that did not cancel in the sum of all contributions: its variance over that of one contribution's own noise.
    fn left_over(&self, _shape: &Shape) -> Option<f64> {
        None
    }

    /// A copy, to look into the future of.
    fn copy(&self) -> Box<dyn Fold>;
}

impl Clone for Box<dyn Fold> {
    fn clone(&self) -> Self {
        self.copy()
    }
}
