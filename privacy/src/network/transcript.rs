//! A run as it was recorded: who contributed, who received what, and which weight was really applied.
//!
//! Pairwise privacy is computed from what happened, not from what was planned: a message that never arrived was not seen, its weight went
//! back to the receiver, and a message that came too late was seen though it was not used.

use super::error::NetworkError;
use super::run::{Phase, Run, Step};
use std::collections::BTreeMap;
use topology::MixingMatrix;

/// One message that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Receipt {
    /// The receiver.
    pub to: usize,
    /// The sender.
    pub from: usize,
    /// The weight that the receiver gave it; 0 if it was received but not used.
    pub weight: f64,
}

/// A record that grows phase by phase, step by step.
#[derive(Debug, Clone)]
pub struct Transcript {
    nodes: usize,
    phases: Vec<Phase>,
    open: Option<OpenPhase>,
}

#[derive(Debug, Clone)]
struct OpenPhase {
    contributes: Vec<bool>,
    steps: Vec<Step>,
}

impl Transcript {
    /// An empty record of a run of `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Self { nodes, phases: Vec::new(), open: None }
    }

    /// A phase begins: these nodes contribute data and noise.
    ///
    /// # Errors
    /// A contributor that is not a node.
    pub fn contribute(&mut self, contributors: impl IntoIterator<Item = usize>) -> Result<(), NetworkError> {
        self.close(None);
        let mut contributes = vec![false; self.nodes];
        for node in contributors {
            let nodes = self.nodes;
            let slot = contributes
                .get_mut(node)
                .ok_or_else(|| self.bad(format!("contributor {node} of {nodes} nodes")))?;
            *slot = true;
        }
        self.open = Some(OpenPhase { contributes, steps: Vec::new() });
        Ok(())
    }

    /// A mixing step of the phase: every message that arrived. What a receiver gave to no message stays its own.
    ///
    /// # Errors
    /// No phase begun, a node that is not there, a message to oneself or the same message twice, or weights that are negative, not
    /// finite or sum to more than one.
    pub fn mix(&mut self, receipts: &[Receipt]) -> Result<(), NetworkError> {
        let mut rows: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); self.nodes];
        let mut overheard = Vec::new();
        for receipt in receipts {
            let Receipt { to, from, weight } = *receipt;
            if to >= self.nodes || from >= self.nodes || to == from {
                return Err(self.bad(format!("a message from {from} to {to} among {} nodes", self.nodes)));
            }
            if weight == 0.0 {
                overheard.push((to as u32, from as u32));
            } else if rows[to].insert(from as u32, weight).is_some() {
                return Err(self.bad(format!("a second message from {from} to {to}")));
            }
        }
        for (node, row) in rows.iter_mut().enumerate() {
            let given: f64 = row.values().sum();
            row.insert(node as u32, 1.0 - given);
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            columns.extend(row.keys());
            values.extend(row.values());
            offsets.push(columns.len());
        }
        let matrix =
            MixingMatrix::new(offsets, columns, values).map_err(|error| self.bad(error.to_string()))?;
        let Some(phase) = &mut self.open else {
            return Err(self.bad("a message before any contribution".into()));
        };
        phase.steps.push(Step::new(matrix).with_overheard(overheard));
        Ok(())
    }

    /// The phase ends, and the digests of the models say whether all nodes hold the same bits.
    pub fn end_phase(&mut self, consensus: bool) {
        self.close(Some(consensus));
    }

    /// The run that was recorded.
    ///
    /// # Errors
    /// No contribution.
    pub fn into_run(mut self) -> Result<Run, NetworkError> {
        self.close(None);
        Run::new(self.nodes, self.phases)
    }

    fn close(&mut self, consensus: Option<bool>) {
        if let Some(open) = self.open.take() {
            let phase = Phase::new(open.steps).with_contributors(open.contributes);
            // What no digest proved is not taken for consensus.
            self.phases.push(phase.with_consensus(consensus.unwrap_or(false)));
        }
    }

    fn bad(&self, what: String) -> NetworkError {
        let step = self.open.as_ref().map_or(0, |open| open.steps.len());
        NetworkError::BadTranscript { phase: self.phases.len(), step, what }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{Watchers, rounds};
    use super::*;

    fn receipts(matrix: &MixingMatrix) -> Vec<Receipt> {
        let of = |to: usize| {
            matrix.heard_by(to).map(move |from| Receipt { to, from, weight: matrix.weight(to, from) })
        };
        (0..matrix.nodes()).flat_map(of).collect()
    }

    #[test]
    fn an_undisturbed_transcript_costs_what_the_plan_costs() {
        let matrix = matrix_of(&hypercube(3));
        let mut transcript = Transcript::new(8);
        transcript.contribute(0..8).unwrap();
        (0..3).for_each(|_| transcript.mix(&receipts(&matrix)).unwrap());
        let watchers = Watchers::new(&[2], 8).unwrap();
        let recorded = rounds::loss(&transcript.into_run().unwrap(), &watchers).unwrap();
        let planned = rounds::loss(&Run::on_graph(matrix, 3, 1).unwrap(), &watchers).unwrap();
        recorded.iter().zip(&planned).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} and {b}"));
    }

    #[test]
    fn a_lost_message_reveals_nothing_and_a_late_one_reveals_all() {
        let watchers = Watchers::new(&[0], 3).unwrap();
        let loss_with = |receipts: &[Receipt]| {
            let mut transcript = Transcript::new(3);
            transcript.contribute(0..3).unwrap();
            transcript.mix(receipts).unwrap();
            rounds::loss(&transcript.into_run().unwrap(), &watchers).unwrap()
        };
        let used = Receipt { to: 0, from: 1, weight: 0.5 };
        assert_eq!(loss_with(&[used])[1..], [1.0, 0.0]);
        assert_eq!(loss_with(&[])[1..], [0.0, 0.0]);
        assert_eq!(loss_with(&[used, Receipt { to: 0, from: 2, weight: 0.0 }])[1..], [1.0, 1.0]);
    }

    #[test]
    fn losses_of_recorded_rounds_add_up_only_where_digests_agreed() {
        let exchange = [Receipt { to: 0, from: 1, weight: 0.5 }, Receipt { to: 1, from: 0, weight: 0.5 }];
        let recorded = |agreed: bool| {
            let mut transcript = Transcript::new(2);
            for _ in 0..2 {
                transcript.contribute(0..2).unwrap();
                transcript.mix(&exchange).unwrap();
                transcript.end_phase(agreed);
            }
            rounds::loss(&transcript.into_run().unwrap(), &Watchers::new(&[0], 2).unwrap())
        };
        assert_eq!(recorded(true).unwrap()[1], 2.0);
        assert!(matches!(recorded(false), Err(NetworkError::NoConsensus { round: 0, rounds: 2 })));
    }

    #[test]
    fn weights_that_pass_one_and_messages_to_oneself_are_refused() {
        let mut transcript = Transcript::new(3);
        assert!(transcript.mix(&[]).is_err(), "nothing was contributed yet");
        transcript.contribute(0..3).unwrap();
        assert!(transcript.mix(&[Receipt { to: 1, from: 1, weight: 0.5 }]).is_err());
        assert!(transcript.mix(&[Receipt { to: 1, from: 0, weight: 1.5 }]).is_err());
        assert!(transcript.mix(&[Receipt { to: 1, from: 0, weight: f64::NAN }]).is_err());
        assert!(transcript.contribute([3]).is_err());
    }
}
