//! Who hears whom in each step, shared by all nodes of a process.
//!
//! Invariant: no node has a copy of the graph. A fixed schedule has one plan for ever; others have one per step, made once and kept while nodes
//! are near that step.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use topology::{MixingMatrix, Schedule, TopologyError};

use crate::PeerIx;
use crate::recipients::Recipients;

/// Steps whose plans are kept: nodes of a run are seldom more than a few steps apart.
const KEPT_STEPS: usize = 16;

/// Round and step, and their plan.
type Kept = ((u32, u32), Arc<StepPlan>);

/// The plans of all steps.
#[derive(Debug)]
pub(crate) struct MixingPlan {
    schedule: Arc<Schedule>,
    nodes: usize,
    steps: u32,
    fixed: Option<Arc<StepPlan>>,
    recent: Mutex<VecDeque<Kept>>,
}

/// Who hears whom in one step.
#[derive(Debug)]
pub(crate) struct StepPlan {
    matrix: Arc<MixingMatrix>,
    /// Row offsets and columns of the transpose, where it differs from the matrix.
    listeners: Option<(Vec<usize>, Vec<u32>)>,
}

impl MixingPlan {
    pub(crate) fn new(schedule: &Arc<Schedule>, nodes: usize) -> Result<Self, TopologyError> {
        let steps = schedule.round(0, nodes)?.steps() as u32;
        let fixed = match &**schedule {
            Schedule::Fixed { matrix, .. } => Some(Arc::new(StepPlan::new(matrix.clone()))),
            _ => None,
        };
        Ok(Self { schedule: schedule.clone(), nodes, steps, fixed, recent: Mutex::default() })
    }

    /// Mixing steps per round.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// The plan of a step. Complexity: O(1) for fixed schedules and for steps that were asked for lately.
    pub(crate) fn step(&self, round: u32, step: u32) -> Arc<StepPlan> {
        if let Some(fixed) = &self.fixed {
            return fixed.clone();
        }
        // A resampled graph serves for a whole round.
        let repeated = matches!(*self.schedule, Schedule::Resampled { .. });
        let key = (round, if repeated { 0 } else { step });
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = recent.iter().rev().find(|(kept, _)| *kept == key) {
            return plan.clone();
        }
        let matrix = match self.schedule.round(u64::from(round), self.nodes) {
            Ok(round) => round.step(step as usize).matrix,
            // A graph that could not be drawn for this round: all nodes find the same, and nobody speaks.
            Err(_) => Arc::new(MixingMatrix::identity(self.nodes)),
        };
        let plan = Arc::new(StepPlan::new(matrix));
        if recent.len() == KEPT_STEPS {
            recent.pop_front();
        }
        recent.push_back((key, plan.clone()));
        plan
    }

    /// Whether there is one plan for ever.
    pub(crate) fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// Whether states stay within the convex hull of the states before; only the fixed weights can be negative.
    pub(crate) fn is_convex(&self) -> bool {
        self.fixed.as_ref().is_none_or(|plan| plan.matrix.is_nonnegative())
    }
}

impl StepPlan {
    fn new(matrix: Arc<MixingMatrix>) -> Self {
        let listeners = (!matrix.is_symmetric()).then(|| {
            let (offsets, columns, _) = matrix.transpose();
            (offsets, columns)
        });
        Self { matrix, listeners }
    }

    /// The row of a node: whom it hears (itself included), in increasing order, and with which weight.
    pub(crate) fn row(&self, node: PeerIx) -> (&[u32], &[f64]) {
        self.matrix.row(node as usize)
    }

    /// The place of `from` in the row of `node`, if its message is part of the step.
    pub(crate) fn place(&self, node: PeerIx, from: PeerIx) -> Option<usize> {
        let (columns, weights) = self.row(node);
        let place = columns.binary_search(&from).ok()?;
        (from != node && weights[place] != 0.0).then_some(place)
    }

    /// Those whose messages are part of the step at `node`, with their places in its row, in increasing order.
    pub(crate) fn heard_by(&self, node: PeerIx) -> impl Iterator<Item = (usize, PeerIx)> + '_ {
        let (columns, weights) = self.row(node);
        let entries = columns.iter().zip(weights).enumerate();
        entries
            .filter(move |&(_, (&peer, &weight))| peer != node && weight != 0.0)
            .map(|(place, (&peer, _))| (place, peer))
    }

    /// All who hear `node`, in increasing order.
    pub(crate) fn recipients(&self, node: PeerIx) -> Recipients {
        let mut all = Vec::with_capacity(self.row(node).0.len());
        match self.listeners {
            None => all.extend(self.heard_by(node).map(|(_, peer)| peer)),
            Some(_) => all.extend(self.listeners(node)),
        }
        Recipients::Many(all)
    }

    /// Those who hear `node`, in increasing order. Where the matrix is symmetric their rows need not be looked at.
    pub(crate) fn listeners(&self, node: PeerIx) -> impl Iterator<Item = PeerIx> + '_ {
        let by_row = self.listeners.is_none().then(|| self.heard_by(node).map(|(_, peer)| peer));
        let by_column = self.listeners.as_ref().map(|(offsets, columns)| {
            let all = &columns[offsets[node as usize]..offsets[node as usize + 1]];
            all.iter().copied().filter(move |&peer| self.place(peer, node).is_some())
        });
        by_row.into_iter().flatten().chain(by_column.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use topology::schedule::RunKey;

    use super::*;

    #[test]
    fn listeners_are_those_who_have_the_node_in_their_row() {
        let schedules = [
            Schedule::Doubling,
            Schedule::RandomMatching { graph: None, key: RunKey::new("plan"), steps: 3 },
        ];
        for schedule in schedules.map(Arc::new) {
            let plan = MixingPlan::new(&schedule, 7).unwrap();
            for (round, step) in (0..3).flat_map(|round| (0..plan.steps()).map(move |step| (round, step))) {
                let matrix = schedule.round(u64::from(round), 7).unwrap().step(step as usize).matrix;
                for node in 0..7 {
                    let listeners: Vec<u32> = plan.step(round, step).listeners(node).collect();
                    let expected: Vec<u32> = (0..7)
                        .filter(|&peer| peer != node && matrix.weight(peer as usize, node as usize) != 0.0)
                        .collect();
                    assert_eq!(listeners, expected, "{schedule:?}, round {round}, step {step}");
                }
            }
        }
    }

    #[test]
    fn few_plans_are_kept() {
        let schedule = Arc::new(Schedule::RandomMatching { graph: None, key: RunKey::new("k"), steps: 2 });
        let plan = MixingPlan::new(&schedule, 4).unwrap();
        (0..100).for_each(|round| drop(plan.step(round, 1)));
        assert_eq!(plan.recent.lock().unwrap().len(), KEPT_STEPS);
        assert!(Arc::ptr_eq(&plan.step(99, 1), &plan.step(99, 1)), "made once");
    }
}
