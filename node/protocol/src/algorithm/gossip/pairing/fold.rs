//! Pairwise noise, folded: with whom each node said that it shared some, before it sent anything.

use privacy::network::gopa::{self, Paired};
use privacy::network::{NetworkError, Run, Watchers};

use super::PairingSettings;
use crate::PeerIx;
use crate::account::Shape;
use crate::algorithm::Priced;

/// Why all pairs are `local`.
const TWICE: &str = "a node settled twice with whom it shares noise, or came back and shares some";
const UNSAID: &str = "a node contributed and did not say with whom it shares noise";

/// The analysis that needs a node's own part only.
const BOUND: &str = "gopa (bound)";

/// What the lines of a run say about it.
#[derive(Debug, Clone, Default)]
pub(in crate::algorithm::gossip) struct PairingFold {
    paired: Option<Paired>,
    told: Vec<bool>,
    resumed: Vec<bool>,
    twice: bool,
}

impl PairingFold {
    /// A node came back: its neighbours may have made noise from the key that it had before.
    pub(in crate::algorithm::gossip) fn on_resumed(&mut self, shape: &Shape, node: usize) {
        self.resumed.resize(shape.nodes, false);
        self.resumed[node] = true;
    }

    /// A node says with whom it shares noise. What it says protects itself and its neighbours, and no watcher's word counts: the noise that a watcher shares is
    /// left out.
    pub(in crate::algorithm::gossip) fn on_paired(&mut self, shape: &Shape, node: usize, peers: &[PeerIx]) {
        self.told.resize(shape.nodes, false);
        let came_back = self.resumed.get(node).copied().unwrap_or(false) && !peers.is_empty();
        self.twice |= std::mem::replace(&mut self.told[node], true) || came_back;
        self.paired.get_or_insert_with(|| Paired::nobody(shape.nodes)).set(node, peers.to_vec());
    }

    fn check(&self, shape: &Shape, published: &[bool]) -> Result<Paired, &'static str> {
        let told = |node: usize| self.told.get(node).copied().unwrap_or(false);
        if self.twice {
            return Err(TWICE);
        }
        if (0..shape.nodes).any(|node| published[node] && !told(node)) {
            return Err(UNSAID);
        }
        Ok(self.paired.clone().unwrap_or_else(|| Paired::nobody(shape.nodes)))
    }

    /// Losses of the run towards each coalition.
    pub(in crate::algorithm::gossip) fn units(
        &self,
        shape: &Shape,
        settings: &PairingSettings,
        (run, published): (&Run, &[bool]),
        coalitions: &[Watchers],
    ) -> Result<Priced, NetworkError> {
        let paired = match self.check(shape, published) {
            Ok(paired) => paired,
            Err(why) => return Ok(Err(why)),
        };
        let mut name = "gopa";
        let mut units = Vec::with_capacity(coalitions.len());
        for watchers in coalitions {
            let (losses, by) = gopa::loss_of_run(run, &paired, settings.ratio, watchers)?;
            name = by;
            units.push(losses);
        }
        Ok(Ok((units, name)))
    }

    /// As [`Self::units`] from the lines of some nodes only: what a node's own neighbours hide, whatever the others did. Of nodes whose lines are not there
    /// everything is seen.
    pub(in crate::algorithm::gossip) fn bounds(
        &self,
        shape: &Shape,
        settings: &PairingSettings,
        published: &[bool],
        coalitions: &[Watchers],
    ) -> Priced {
        let paired = self.check(shape, published)?;
        let hidden_by = |node: usize, watchers: &Watchers| {
            paired.with(node).iter().filter(|&&peer| !watchers.contains(peer as usize)).count()
        };
        let bound = |node: usize, watchers: &Watchers| match watchers.contains(node) {
            true => 0.0,
            false => gopa::of_neighbours(hidden_by(node, watchers), settings.ratio),
        };
        let row = |watchers: &Watchers| (0..shape.nodes).map(|node| bound(node, watchers)).collect();
        Ok((coalitions.iter().map(row).collect(), BOUND))
    }

    /// Losses towards any so many; `None` where only `local` holds.
    pub(in crate::algorithm::gossip) fn towards_any(
        &self,
        shape: &Shape,
        settings: &PairingSettings,
        published: &[bool],
        count: usize,
    ) -> Option<(Vec<f64>, &'static str)> {
        let paired = self.check(shape, published).ok()?;
        if shape.witnesses.is_some() {
            let left = |node: usize| paired.with(node).len().saturating_sub(count);
            let bounds = (0..shape.nodes).map(|node| gopa::of_neighbours(left(node), settings.ratio));
            return Some((bounds.collect(), BOUND));
        }
        let found = gopa::loss_towards_any(&paired, settings.ratio, published, count).ok()?;
        Some((found, "gopa"))
    }

    /// Variance that is left in the sum of all contributions, over that of the noise of one.
    pub(in crate::algorithm::gossip) fn left_over(
        &self,
        settings: &PairingSettings,
        published: &[bool],
    ) -> f64 {
        let count = self.paired.as_ref().map_or(0, |paired| paired.left_over(published));
        count as f64 * settings.ratio * settings.ratio
    }
}
