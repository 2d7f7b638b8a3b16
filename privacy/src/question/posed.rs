//! A situation with everything that was named checked and built, and its losses.

use super::QuestionError;
use super::noise::Noise;
use crate::network::walk::{self, Forecast};
use crate::network::{
    Analysis, NetworkError, Pricing, Run, Waiting, Watchers, epsilons_of, losses_into, masked, published,
};
use ndarray::Array2;
use rayon::prelude::*;
use topology::{Built, Graph, MixingMatrix, Spec, Walk};

/// A question to the network accountant that makes sense.
#[derive(Debug)]
pub struct Posed {
    pub(super) analysis: Analysis,
    pub(super) method: Option<&'static str>,
    pub(super) nodes: usize,
    pub(super) steps: usize,
    pub(super) rounds: usize,
    pub(super) message_noise: f64,
    pub(super) coalitions: Vec<Watchers>,
    pub(super) protocol: Protocol,
    pub(super) network: Option<Network>,
}

/// The graph that the nodes sit on, for distances and drawings.
#[derive(Debug)]
pub enum Network {
    /// As described.
    Built(Box<(Spec, Built)>),
    /// As it was at hand.
    Given(Graph),
    /// Who speaks with whom in the first round of a schedule.
    Exchanges(Graph),
}

impl Network {
    /// The graph.
    pub fn graph(&self) -> &Graph {
        match self {
            Self::Built(built) => &built.1.graph,
            Self::Given(graph) | Self::Exchanges(graph) => graph,
        }
    }
}

/// What happens between the nodes.
#[derive(Debug)]
pub(super) enum Protocol {
    Mixing {
        run: Run,
        pricing: Pricing,
    },
    /// All share masks with all, and this many pool what they know.
    Masks {
        colluders: usize,
        rounds: usize,
    },
    MasksOn {
        graph: Graph,
        rounds: usize,
    },
    WalkedPath(Vec<usize>),
    PlannedWalk {
        kernel: MixingMatrix,
        visits: usize,
        samples: usize,
        seed: u64,
    },
    MuffliatoSum {
        matrix: MixingMatrix,
        steps: usize,
    },
    RandomWalkClosedForm {
        matrix: MixingMatrix,
        visits: usize,
    },
    MatrixFactorisationSum {
        matrix: MixingMatrix,
        rounds: usize,
    },
}

impl Protocol {
    /// Who speaks with whom in the first round: the graph that distances are measured on, unless every round has exchanges of its own.
    pub(super) fn exchanges(&self) -> Result<Option<Graph>, QuestionError> {
        let run = match self {
            Self::Mixing { run, .. } if run.rounds() == 1 || run.repeats() => run,
            _ => return Ok(None),
        };
        let mut edges = Vec::new();
        for step in run.phase(0).steps() {
            for node in 0..run.nodes() {
                edges.extend(step.matrix().heard_by(node).map(|from| (node as u32, from as u32)));
            }
        }
        Ok(Some(Graph::from_edges(run.nodes(), &edges)?.0))
    }
}

/// One row per coalition, one entry per node; entries of members are NaN.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) mu2: Array2<f64>,
    pub(super) epsilon: Array2<f64>,
    /// Half the width of the 95 % confidence interval of μ², where paths were sampled.
    pub(super) margin: Option<Array2<f64>>,
    /// Upper end of the 95 % confidence interval of the Rényi divergence at order 2, where paths were sampled: unlike that of a Gaussian it
    /// is not μ².
    pub(super) renyi_2: Option<Array2<f64>>,
}

impl Posed {
    /// Who watches: one row of an answer each.
    pub fn coalitions(&self) -> &[Watchers] {
        &self.coalitions
    }

    /// Prices every pair.
    pub(super) fn priced(&self, noise: Noise, waiting: &Waiting<'_>) -> Result<Priced, QuestionError> {
        match &self.protocol {
            Protocol::PlannedWalk { kernel, visits, samples, seed } => {
                let paths = sampled_paths(kernel, *visits, *samples, *seed)?;
                self.forecast(&paths, noise, waiting)
            }
            _ => self.converted(self.unit_losses(waiting)?, noise),
        }
    }

    /// Unit losses, scaled to the noise and converted.
    pub(super) fn converted(&self, mut mu2: Vec<f64>, noise: Noise) -> Result<Priced, QuestionError> {
        mu2.par_iter_mut().for_each(|mu2| *mu2 *= noise.scale());
        let epsilon = epsilons_of(&mu2, noise.delta)?;
        Ok(Priced { epsilon: self.table(epsilon), mu2: self.table(mu2), margin: None, renyi_2: None })
    }

    /// Rows of a table, with nothing to be said about the watchers themselves.
    fn table(&self, values: Vec<f64>) -> Array2<f64> {
        let shape = (self.coalitions.len(), self.nodes);
        let mut table = Array2::from_shape_vec(shape, values).expect("one entry for each coalition and node");
        for (row, watchers) in self.coalitions.iter().enumerate() {
            watchers.members().iter().for_each(|&member| table[[row, member]] = f64::NAN);
        }
        table
    }

    /// μ² of every pair for Δ = σ = 1, row by row.
    pub(super) fn unit_losses(&self, waiting: &Waiting<'_>) -> Result<Vec<f64>, QuestionError> {
        self.unit_losses_of(&self.coalitions, waiting)
    }

    /// The same towards some of the coalitions.
    pub(super) fn unit_losses_of(
        &self,
        coalitions: &[Watchers],
        waiting: &Waiting<'_>,
    ) -> Result<Vec<f64>, QuestionError> {
        let nodes = self.nodes;
        let mut out = vec![0.0; coalitions.len() * nodes];
        let each = |out: &mut [f64], row: &(dyn Fn(&Watchers) -> Result<Vec<f64>, NetworkError> + Sync)| {
            waiting.fill_rows(coalitions, out, row)
        };
        match &self.protocol {
            Protocol::Mixing { run, pricing } => losses_into(run, coalitions, *pricing, waiting, &mut out)?,
            Protocol::Masks { colluders, rounds } => each(&mut out, &|watchers| {
                let honest = nodes - watchers.members().len().max(*colluders);
                Ok(vec![masked::mu2(1.0, *rounds as u64) / honest as f64 * (1.0 + f64::EPSILON); nodes])
            })?,
            Protocol::MasksOn { graph, rounds } => each(&mut out, &|watchers| {
                let one = masked::loss(graph, watchers.members(), &vec![1.0; nodes])?;
                Ok(one.iter().map(|mu2| mu2 * masked::mu2(1.0, *rounds as u64)).collect())
            })?,
            Protocol::WalkedPath(path) => {
                each(&mut out, &|watchers| walk::loss(path, nodes, watchers))?;
            }
            Protocol::MuffliatoSum { matrix, steps } => {
                each(&mut out, &|watchers| published::muffliato(matrix, *steps, watchers.members()[0]))?;
            }
            Protocol::MatrixFactorisationSum { matrix, rounds } => each(&mut out, &|watchers| {
                published::matrix_factorisation(matrix, *rounds, watchers.members()[0])
            })?,
            Protocol::RandomWalkClosedForm { matrix, visits } => {
                let all = published::random_walk(matrix, *visits)?;
                each(&mut out, &|watchers| Ok(all[watchers.members()[0]].clone()))?;
            }
            Protocol::PlannedWalk { .. } => return Err(QuestionError::WalkNotMade),
        }
        Ok(out)
    }

    /// What sampled paths say of a walk that is not made yet.
    fn forecast(
        &self,
        paths: &[Vec<usize>],
        noise: Noise,
        waiting: &Waiting<'_>,
    ) -> Result<Priced, QuestionError> {
        let forecast = |watchers| -> Result<Forecast, NetworkError> {
            waiting.go_on()?;
            let found = walk::forecast(paths.iter().cloned(), self.nodes, watchers, noise.scale())?;
            waiting.done(1, self.coalitions.len());
            Ok(found)
        };
        let forecasts = self.coalitions.par_iter().map(forecast).collect::<Result<Vec<_>, _>>()?;
        let epsilons = |forecast: &Forecast| -> Vec<f64> {
            (0..self.nodes).map(|node| forecast.epsilon(node, noise.delta)).collect()
        };
        let renyi_2: Option<Vec<Vec<f64>>> =
            forecasts.iter().map(|forecast| forecast.divergence_at(2.0)).collect();
        let all =
            |rows: &dyn Fn(&Forecast) -> Vec<f64>| self.table(forecasts.iter().flat_map(rows).collect());
        Ok(Priced {
            epsilon: all(&epsilons),
            margin: Some(all(&|forecast| forecast.margin.clone())),
            mu2: all(&|forecast| forecast.mean.clone()),
            renyi_2: renyi_2.map(|rows| self.table(rows.concat())),
        })
    }

    /// What the figures promise: nothing, for paths that were only sampled.
    pub fn guarantee(&self) -> &'static str {
        match self.protocol {
            Protocol::PlannedWalk { .. } => {
                "None before the walk is made: an estimate from sampled paths with a 95 % confidence interval. The path that is walked has a guarantee of its own."
            }
            _ => self.analysis.guarantee(),
        }
    }

    /// What must hold for it, or what a paper takes for granted.
    pub fn assumes(&self) -> &'static str {
        match self.protocol {
            Protocol::MatrixFactorisationSum { .. } => {
                "What the paper assumes: contributions that do not depend on received messages, which those of SGD do."
            }
            Protocol::RandomWalkClosedForm { .. } => {
                "What the paper assumes: a watcher that knows neither the path nor who held the token before, an average path, and update maps that bring no two states farther apart."
            }
            _ => self.analysis.assumes(),
        }
    }

    /// ε of somebody who sees everything, where the protocol says how often each node contributes.
    pub(super) fn local_epsilon(&self, noise: Noise) -> Option<f64> {
        let rounds = match &self.protocol {
            Protocol::Mixing { run, .. } => run.rounds(),
            Protocol::Masks { rounds, .. } | Protocol::MasksOn { rounds, .. } => *rounds,
            _ => return None,
        };
        let mu = (rounds as f64).sqrt() * noise.sensitivity / noise.sigma;
        crate::gdp::epsilon(mu, noise.delta).ok()
    }
}

/// Independent paths, each from a start of its own: the kernel's stationary law is what a long walk forgets its start for, so starts go
/// round over all nodes.
fn sampled_paths(
    kernel: &MixingMatrix,
    visits: usize,
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<usize>>, QuestionError> {
    let path = |sample: usize| -> Result<Vec<usize>, QuestionError> {
        let start = sample % kernel.nodes();
        Ok(Walk::new(kernel, start, seed.wrapping_add(sample as u64))?.take(visits).collect())
    };
    (0..samples).map(path).collect()
}
