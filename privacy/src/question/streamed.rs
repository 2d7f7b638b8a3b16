//! All pairs of a large network, row by row: no more rows are in memory than are priced together.

use super::QuestionError;
use super::noise::Noise;
use super::pairwise::{Answer, Question};
use super::posed::{Posed, Protocol};
use super::summary::distances;
use crate::network::{Analysis, Converter, Waiting, Watchers};
use rayon::prelude::*;
use serde::Serialize;

pub use super::rows::Row as JsonRow;

/// Entries that are priced together, about: 32 MiB of each figure.
const TOGETHER: usize = 1 << 22;

/// A question that is checked and built, before anything is priced.
#[derive(Debug)]
pub struct Stream {
    posed: Posed,
    noise: Noise,
}

/// What an [`Answer`] says besides its tables, under the same keys in the same order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    analysis: Analysis,
    assumes: &'static str,
    delta: f64,
    guarantee: &'static str,
    message_noise: f64,
    method: Option<&'static str>,
    nodes: usize,
    rounds: usize,
    sensitivity: f64,
    sigma: f64,
    steps: usize,
    watchers: Vec<usize>,
}

/// Losses of every node towards one coalition, NaN for its members.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Its number.
    pub number: usize,
    /// Who pools what they see.
    pub watchers: &'a Watchers,
    /// Gaussian DP, squared.
    pub mu2: &'a [f64],
    /// ε at δ; empty where only μ² was asked for.
    pub epsilon: &'a [f64],
}

/// Which figures are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figures {
    /// Only μ².
    Mu2,
    /// μ² and ε.
    Both,
}

impl Question {
    /// Builds everything that the question names, and prices nothing yet.
    ///
    /// # Errors
    /// What makes no sense.
    pub fn stream(&self) -> Result<Stream, QuestionError> {
        let noise = self.noise.check()?;
        Ok(Stream { posed: self.situation.posed()?, noise })
    }
}

impl Stream {
    /// Whether rows come one by one: not where paths are sampled, whose intervals are known together.
    pub fn has_rows(&self) -> bool {
        !matches!(self.posed.protocol, Protocol::PlannedWalk { .. })
    }

    /// The whole answer at once.
    ///
    /// # Guarantee
    /// As [`Question::answer`].
    ///
    /// # Assumes
    /// As [`Question::answer`].
    ///
    /// # Errors
    /// As [`Question::answer`].
    pub fn whole(self, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        Answer::of(self.posed, self.noise, waiting)
    }

    /// What is known before any row.
    pub fn head(&self) -> Head {
        let (posed, noise) = (&self.posed, self.noise);
        Head {
            analysis: posed.analysis,
            assumes: posed.assumes(),
            delta: noise.delta,
            guarantee: posed.guarantee(),
            message_noise: posed.message_noise,
            method: posed.method,
            nodes: posed.nodes,
            rounds: posed.rounds,
            sensitivity: noise.sensitivity,
            sigma: noise.sigma,
            steps: posed.steps,
            watchers: posed.coalitions.iter().flat_map(|watchers| watchers.members().to_vec()).collect(),
        }
    }

    /// Number of rows and of entries in each.
    pub fn shape(&self) -> (usize, usize) {
        (self.posed.coalitions.len(), self.posed.nodes)
    }

    /// Which theorem gives the figures.
    pub fn analysis(&self) -> Analysis {
        self.posed.analysis
    }

    /// Steps between each node and the nearest watcher of a row, as [`Answer::distances`].
    pub fn distances(&self, watchers: &Watchers) -> Option<Vec<Option<u32>>> {
        self.posed.network.as_ref().map(|network| distances(network, watchers))
    }

    /// Prices all rows and hands them over in order. The figures are those of the [`Answer`], bit by bit.
    ///
    /// # Guarantee
    /// As [`Question::answer`].
    ///
    /// # Assumes
    /// As [`Question::answer`].
    ///
    /// # Errors
    /// As [`Question::answer`], and what the receiver of the rows refuses.
    pub fn rows<E: From<QuestionError>>(
        &self,
        figures: Figures,
        waiting: &Waiting<'_>,
        mut take: impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (all, nodes) = self.shape();
        let mut converter = Converter::new(all * nodes, self.noise.delta);
        let tell = |now: usize, _: usize| waiting.done(now, all);
        let together = (TOGETHER / nodes).max(1);
        for (group, some) in self.posed.coalitions.chunks(together).enumerate() {
            let mut mu2 = self.posed.unit_losses_of(some, &waiting.told(&tell))?;
            mu2.par_iter_mut().for_each(|mu2| *mu2 *= self.noise.scale());
            let mut epsilon = match figures {
                Figures::Mu2 => Vec::new(),
                Figures::Both => converter.convert(&mu2).map_err(QuestionError::from)?,
            };
            for (at, watchers) in some.iter().enumerate() {
                let range = at * nodes..(at + 1) * nodes;
                let own = |row: &mut [f64]| watchers.members().iter().for_each(|&w| row[w] = f64::NAN);
                own(&mut mu2[range.clone()]);
                let epsilon = epsilon.get_mut(range.clone()).unwrap_or_default();
                if !epsilon.is_empty() {
                    own(epsilon);
                }
                take(Row { number: group * together + at, watchers, mu2: &mu2[range], epsilon })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Situation;
    use super::*;

    #[test]
    fn rows_and_head_are_those_of_the_answer() {
        for (topology, analysis) in [("karate", Analysis::Contractive), ("hypercube:256", Analysis::Linear)] {
            let topology = Some(topology.to_owned());
            let situation = Situation { topology, analysis, rounds: 3, ..Situation::default() };
            let question = Question { situation, noise: Noise { sigma: 2.0, ..Noise::default() } };
            let answer = question.answer(&Waiting::patiently()).unwrap();
            let stream = question.stream().unwrap();
            let (mut mu2, mut epsilon) = (Vec::new(), Vec::new());
            let taken = stream.rows(Figures::Both, &Waiting::patiently(), |row: Row<'_>| {
                assert_eq!(row.watchers.members(), [row.number]);
                mu2.extend(row.mu2.iter().map(|x| x.to_bits()));
                epsilon.extend(row.epsilon.iter().map(|x| x.to_bits()));
                Ok::<(), QuestionError>(())
            });
            taken.unwrap();
            assert_eq!(mu2, answer.mu2.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            assert_eq!(epsilon, answer.epsilon.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            let head = serde_json::to_string(&stream.head()).unwrap();
            let whole = serde_json::to_string(&answer).unwrap();
            assert!(whole.starts_with(head.strip_suffix('}').unwrap()), "{head}");
            assert!(whole[head.len() - 1..].starts_with(",\"mu2\":[["), "{analysis}: the tables come next");
        }
    }
}
