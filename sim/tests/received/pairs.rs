//! Noise that neighbours share, seen in what they publish: of two that share some, one has it and the other its opposite.
//!
//! Nothing of keys, and no line of a log, is looked at. What nodes send later are combinations of what was published.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{Algorithm, Setup};
use topology::Graph;

use super::rows::dot;
use super::witness::{Seen, least_squares};

/// The first state that each node sent.
pub(crate) type Published = BTreeMap<usize, Vec<f32>>;

/// Two that share noise have this part of its variance in common, with the opposite sign; by theory −1 and 0, with deviations below 0.07 for four
/// neighbours and 4,000 numbers: less than one of 10⁵ pairs is taken for the other.
const IN_COMMON: f64 = -0.7;

/// What is left of a message that is no combination of what is known to be published.
const UNEXPLAINED: f64 = 1e-3;

pub(crate) struct Pairs {
    graph: Arc<Graph>,
    /// Of shared noise, over that of a contribution's own.
    ratio: f64,
    deviation: f64,
}

impl Pairs {
    pub(crate) fn of(setup: &Setup) -> Option<Self> {
        let Algorithm::Gossip(settings) = &setup.settings.algorithm else { return None };
        let pairing = settings.pairing.as_ref()?;
        Some(Self { graph: pairing.graph.clone(), ratio: pairing.ratio, deviation: pairing.deviation })
    }

    /// What was delivered, as rows over contributions, shared noise, and noise that one end alone added.
    pub(crate) fn seen(
        &self,
        published: &Published,
        contributors: &[usize],
        delivered: &[(usize, Vec<f32>)],
    ) -> Seen {
        let contributions = contributors.len();
        let vectors: Vec<(usize, Vec<f64>)> = published
            .iter()
            .map(|(node, values)| (*node, values.iter().copied().map(f64::from).collect::<Vec<f64>>()))
            .filter(|(_, values)| values.iter().any(|&value| value != 0.0))
            .collect();
        let (mut rows, mut owners) = self.published(&vectors, contributors);
        // One coordinate for each of those who published, behind what is shared.
        let shared = owners.len();
        owners.extend(vectors.iter().map(|(node, _)| [*node; 2]));
        for (at, ((_, values), row)) in vectors.iter().zip(&mut rows).enumerate() {
            let norm = self.in_common(values, values, contributions);
            let both = row[contributions..].iter().filter(|&&share| share != 0.0).count() as f64;
            row.resize(owners.len(), 0.0);
            row[shared + at] = self.ratio * (norm - both).round().max(0.0).sqrt();
        }
        let columns: Vec<Vec<f64>> = vectors.into_iter().map(|(_, values)| values).collect();
        let known = delivered.iter().filter_map(|(to, values)| {
            let values: Vec<f64> = values.iter().copied().map(f64::from).collect();
            let shares = combination(&columns, &values)?;
            let entry = |at: usize| shares.iter().zip(&rows).map(|(share, row)| share * row[at]).sum();
            Some((*to, (0..owners.len()).map(entry).collect()))
        });
        Seen { rows: known.collect(), contributions, owners }
    }

    /// Rows of what was published, and whose the noises are: contributions, then what two neighbours share.
    fn published(
        &self,
        vectors: &[(usize, Vec<f64>)],
        contributors: &[usize],
    ) -> (Vec<Vec<f64>>, Vec<[usize; 2]>) {
        let contributions = contributors.len();
        let own = |(node, _): &(usize, Vec<f64>)| {
            contributors.iter().map(|maker| f64::from(u8::from(maker == node))).collect::<Vec<f64>>()
        };
        let mut rows: Vec<Vec<f64>> = vectors.iter().map(own).collect();
        let mut owners: Vec<[usize; 2]> = contributors.iter().map(|&maker| [maker; 2]).collect();
        for (i, (one, first)) in vectors.iter().enumerate() {
            for (j, (other, second)) in vectors.iter().enumerate().skip(i + 1) {
                let neighbours = self.graph.neighbours(*one).contains(&(*other as u32));
                if neighbours && self.in_common(first, second, contributions) < IN_COMMON {
                    owners.push([*one, *other]);
                    rows.iter_mut().for_each(|row| row.push(0.0));
                    let at = owners.len() - 1;
                    (rows[i][at], rows[j][at]) = (self.ratio, -self.ratio);
                }
            }
        }
        (rows, owners)
    }

    /// How much of the shared noise of one pair two vectors have in common, behind the contributions.
    fn in_common(&self, one: &[f64], other: &[f64], contributions: usize) -> f64 {
        let (one, other) = (&one[contributions..], &other[contributions..]);
        dot(one, other) / (one.len() as f64 * self.deviation.powi(2))
    }
}

/// The combination of what was published that a message is; nothing where it is none, since something in it never reached anybody alone.
fn combination(columns: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    if columns.is_empty() {
        return None;
    }
    let shares = least_squares(columns, values);
    let mut rest = values.to_vec();
    for (share, column) in shares.iter().zip(columns) {
        rest.iter_mut().zip(column).for_each(|(x, y)| *x -= share * y);
    }
    (dot(&rest, &rest) <= UNEXPLAINED.powi(2) * dot(values, values)).then_some(shares)
}
