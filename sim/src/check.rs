//! Invariants of the whole swarm, read from the lines of its log. Those of one node are checked where it runs.

use std::collections::BTreeMap;

use protocol::{Digest, PeerIx, RunEvent};

use crate::error::SimError;
use crate::report::Line;

/// Rounds of which the digest is kept.
const KEPT: usize = 4_096;

/// What must agree among nodes.
#[derive(Default)]
pub(crate) struct Agreement {
    /// The first node that finished a round, and the model that it had then.
    ends: BTreeMap<(u32, u32), (PeerIx, Digest)>,
}

impl Agreement {
    /// Whether a line agrees with those of other nodes: after a clean round all have the same model.
    pub(crate) fn check(&mut self, line: &Line) -> Result<(), SimError> {
        let RunEvent::RoundDone { round, epoch, end, .. } = line.event else { return Ok(()) };
        let &mut (first, digest) = self.ends.entry((epoch, round)).or_insert((line.node, end));
        if self.ends.len() > KEPT {
            self.ends.pop_first();
        }
        if digest == end {
            return Ok(());
        }
        let what = format!(
            "nodes {first} and {} ended round {round} of epoch {epoch} with models {digest} and {end}",
            line.node
        );
        Err(SimError::Invariant { seconds: line.time as f64 / 1e6, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_of_one_round_are_named() {
        let mut agreement = Agreement::default();
        let mut done = |node, epoch, end: &[f32]| {
            let (start, end) = (Digest::of(&[]), Digest::of(end));
            let event = RunEvent::RoundDone { round: 3, epoch, start, end, count: 2 };
            agreement.check(&Line { time: 9, node, event })
        };
        assert!(done(0, 1, &[1.0]).is_ok());
        assert!(done(1, 1, &[1.0]).is_ok());
        assert!(done(2, 2, &[2.0]).is_ok());
        let error = done(2, 1, &[2.0]).unwrap_err().to_string();
        assert!(error.contains("nodes 0 and 2 ended round 3"), "{error}");
    }
}
