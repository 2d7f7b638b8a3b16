//! What happened, or is planned: contributions, and the mixing after each.
//!
//! A run is a list of phases. In a phase every contributor adds its (clipped) contribution and fresh Gaussian noise
//! to its state, then the phase's mixing steps are done one after the other: in a step each node sends its state to
//! those that hear it and replaces its own by the weighted sum of what it heard. The weights are those really
//! applied, so drop-outs, time-varying graphs and asynchronous exchanges are runs like any other.

use super::error::NetworkError;
use super::symmetry::Symmetry;
use std::sync::{Arc, OnceLock};
use topology::{MixingMatrix, Schedule};

/// One exchange of messages.
///
/// Invariant: whoever applies a weight to a node's state has received that state.
#[derive(Debug, Clone)]
pub struct Step {
    matrix: Arc<MixingMatrix>,
    overheard: Vec<(u32, u32)>,
    momentum: f64,
}

impl Step {
    /// Everybody replaces its state by its row of `matrix` applied to the states, and hears those in its row.
    pub fn new(matrix: impl Into<Arc<MixingMatrix>>) -> Self {
        Self { matrix: matrix.into(), overheard: Vec::new(), momentum: 0.0 }
    }

    /// Adds messages `(to, from)` that were received but not used, such as late ones: they were seen all the same.
    #[must_use]
    pub fn with_overheard(mut self, messages: Vec<(u32, u32)>) -> Self {
        self.overheard = messages;
        self
    }

    /// Accelerated gossip: y(t+1) = (1 + m) W y(t) − m y(t−1), with y(−1) = y(0).
    ///
    /// # Errors
    /// A momentum that is not a finite number of at least zero.
    pub fn with_momentum(mut self, momentum: f64) -> Result<Self, NetworkError> {
        self.momentum = super::error::not_negative("momentum", momentum)?;
        Ok(self)
    }

    /// The weights applied.
    pub fn matrix(&self) -> &Arc<MixingMatrix> {
        &self.matrix
    }

    /// The momentum of accelerated gossip; 0 is plain gossip.
    pub fn momentum(&self) -> f64 {
        self.momentum
    }

    /// Nodes outside the coalition whose message of this step one of its members received, in increasing order.
    pub fn heard_by(&self, watchers: &Watchers) -> Vec<usize> {
        let mut heard: Vec<usize> =
            watchers.members().iter().flat_map(|&w| self.matrix.heard_by(w)).collect();
        let late = self.overheard.iter().filter(|(to, _)| watchers.contains(*to as usize));
        heard.extend(late.map(|&(_, from)| from as usize));
        heard.retain(|&node| !watchers.contains(node));
        heard.sort_unstable();
        heard.dedup();
        heard
    }

    /// Whether messages were received that nobody used.
    pub(crate) fn has_overheard(&self) -> bool {
        !self.overheard.is_empty()
    }
}

/// A contribution of some or all nodes, and the mixing after it.
#[derive(Debug, Clone)]
pub struct Phase {
    steps: Vec<Step>,
    contributes: Option<Vec<bool>>,
    consensus: Option<bool>,
}

impl Phase {
    /// All nodes contribute, then these steps are done.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps, contributes: None, consensus: None }
    }

    /// Only those marked contribute; the others add neither data nor noise.
    #[must_use]
    pub fn with_contributors(mut self, contributes: Vec<bool>) -> Self {
        self.contributes = Some(contributes);
        self
    }

    /// Says whether this phase ended in exact consensus, as the digests of the models proved or disproved in a run
    /// that was made. Without it the weights decide.
    #[must_use]
    pub fn with_consensus(mut self, reached: bool) -> Self {
        self.consensus = Some(reached);
        self
    }

    /// What was recorded about consensus.
    pub(crate) fn recorded_consensus(&self) -> Option<bool> {
        self.consensus
    }

    /// The mixing steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether `node` adds data and noise in this phase.
    pub fn contributes(&self, node: usize) -> bool {
        self.contributes.as_ref().is_none_or(|marks| marks[node])
    }

    /// Whether all nodes contribute.
    pub fn all_contribute(&self) -> bool {
        self.contributes.as_ref().is_none_or(|marks| marks.iter().all(|&mark| mark))
    }
}

/// A whole run: its phases, in order.
#[derive(Debug, Clone)]
pub struct Run {
    nodes: usize,
    phases: Phases,
    /// Searched for when first asked about.
    symmetry: Arc<OnceLock<Option<Symmetry>>>,
}

#[derive(Debug, Clone)]
enum Phases {
    /// The same phase again and again, which several analyses exploit.
    Repeated(Phase, usize),
    Listed(Vec<Phase>),
}

impl Run {
    /// `rounds` contributions of all nodes on a fixed graph, each followed by `steps` mixing steps.
    ///
    /// # Errors
    /// No round.
    pub fn on_graph(
        matrix: impl Into<Arc<MixingMatrix>>,
        steps: usize,
        rounds: usize,
    ) -> Result<Self, NetworkError> {
        let matrix = matrix.into();
        let nodes = matrix.nodes();
        let phase = Phase::new(vec![Step::new(matrix); steps]);
        if rounds == 0 {
            return Err(NetworkError::NothingHappens);
        }
        Ok(Self::of(nodes, Phases::Repeated(phase, rounds)))
    }

    /// `rounds` contributions of all `nodes` nodes, each followed by a round of the schedule.
    ///
    /// # Errors
    /// No round, or a number of nodes that the schedule does not take.
    pub fn on_schedule(schedule: &Schedule, nodes: usize, rounds: usize) -> Result<Self, NetworkError> {
        let phase = |round: usize| -> Result<Phase, NetworkError> {
            let matrices = schedule.round(round as u64, nodes)?.matrices();
            Ok(Phase::new(matrices.into_iter().map(Step::new).collect()))
        };
        if let Schedule::Doubling | Schedule::OnePeerExponential | Schedule::Fixed { .. } = schedule {
            return Self::repeated(nodes, phase(0)?, rounds);
        }
        Self::new(nodes, (0..rounds).map(phase).collect::<Result<_, _>>()?)
    }

    /// The same phase `rounds` times.
    ///
    /// # Errors
    /// No round, or matrices and marks of another size.
    pub fn repeated(nodes: usize, phase: Phase, rounds: usize) -> Result<Self, NetworkError> {
        check_phase(nodes, 0, &phase)?;
        if rounds == 0 {
            return Err(NetworkError::NothingHappens);
        }
        Ok(Self::of(nodes, Phases::Repeated(phase, rounds)))
    }

    /// These phases, one after the other.
    ///
    /// # Errors
    /// No phase, or matrices and marks of another size.
    pub fn new(nodes: usize, phases: Vec<Phase>) -> Result<Self, NetworkError> {
        if phases.is_empty() {
            return Err(NetworkError::NothingHappens);
        }
        for (at, phase) in phases.iter().enumerate() {
            check_phase(nodes, at, phase)?;
        }
        Ok(Self::of(nodes, Phases::Listed(phases)))
    }

    fn of(nodes: usize, phases: Phases) -> Self {
        Self { nodes, phases, symmetry: Arc::default() }
    }

    /// Which nodes the run cannot tell apart, where some are found.
    pub(crate) fn symmetry(&self) -> Option<&Symmetry> {
        self.symmetry.get_or_init(|| Symmetry::of(self)).as_ref()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of phases, that is of contributions.
    pub fn rounds(&self) -> usize {
        match &self.phases {
            Phases::Repeated(_, times) => *times,
            Phases::Listed(phases) => phases.len(),
        }
    }

    /// The phase of a round.
    pub fn phase(&self, round: usize) -> &Phase {
        match &self.phases {
            Phases::Repeated(phase, _) => phase,
            Phases::Listed(phases) => &phases[round],
        }
    }

    /// All phases in order.
    pub fn phases(&self) -> impl Iterator<Item = &Phase> {
        (0..self.rounds()).map(|round| self.phase(round))
    }

    /// Whether one phase is repeated throughout.
    pub fn repeats(&self) -> bool {
        self.repeated_phase().is_some()
    }

    /// The phase that is repeated throughout, where there is one.
    pub(crate) fn repeated_phase(&self) -> Option<&Phase> {
        match &self.phases {
            Phases::Repeated(phase, _) => Some(phase),
            Phases::Listed(phases) if phases.len() == 1 => phases.first(),
            Phases::Listed(_) => None,
        }
    }
}

/// Nodes that pool what they know: one watcher, or a coalition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watchers {
    members: Vec<usize>,
}

impl Watchers {
    /// A coalition of `members` among `nodes` nodes; repetitions do not count.
    ///
    /// # Errors
    /// Nobody, everybody, or a member outside the graph.
    pub fn new(members: &[usize], nodes: usize) -> Result<Self, NetworkError> {
        if let Some(&watcher) = members.iter().find(|&&member| member >= nodes) {
            return Err(NetworkError::WatcherOutside { watcher, nodes });
        }
        let mut members = members.to_vec();
        members.sort_unstable();
        members.dedup();
        match members.len() {
            0 => Err(NetworkError::NobodyWatches),
            all if all == nodes => Err(NetworkError::EverybodyWatches { nodes }),
            _ => Ok(Self { members }),
        }
    }

    /// The members, in increasing order.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Whether `node` is a member.
    pub fn contains(&self, node: usize) -> bool {
        self.members.binary_search(&node).is_ok()
    }
}

fn check_phase(nodes: usize, at: usize, phase: &Phase) -> Result<(), NetworkError> {
    let marked = phase.contributes.as_ref().map_or(nodes, Vec::len);
    let differs = |step: usize, found: usize| NetworkError::SizeDiffers { phase: at, step, found, nodes };
    if marked != nodes {
        return Err(differs(0, marked));
    }
    match phase.steps.iter().position(|step| step.matrix.nodes() != nodes) {
        Some(step) => Err(differs(step, phase.steps[step].matrix.nodes())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coalition_of_nobody_or_of_everybody_is_refused() {
        assert!(matches!(Watchers::new(&[], 3), Err(NetworkError::NobodyWatches)));
        assert!(matches!(Watchers::new(&[0, 1, 2, 1], 3), Err(NetworkError::EverybodyWatches { nodes: 3 })));
        assert!(matches!(Watchers::new(&[3], 3), Err(NetworkError::WatcherOutside { watcher: 3, nodes: 3 })));
        assert_eq!(Watchers::new(&[2, 0, 2], 3).unwrap().members(), [0, 2]);
    }

    #[test]
    fn a_late_message_is_heard_though_it_has_no_weight() {
        let step = Step::new(MixingMatrix::identity(3)).with_overheard(vec![(0, 2)]);
        assert_eq!(step.heard_by(&Watchers::new(&[0], 3).unwrap()), [2]);
        assert!(step.heard_by(&Watchers::new(&[1], 3).unwrap()).is_empty());
    }
}
