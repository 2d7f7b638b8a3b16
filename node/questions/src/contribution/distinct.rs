//! A node's buckets for `count(DISTINCT …)`.

use std::collections::BTreeSet;

use privacy::noise::NoiseSource;
use sha2::{Digest, Sha256};

use crate::columns::{Cell, Row};
use crate::kinds::distinct::{BUCKETS, Distinct};
use crate::language::ast::{Kind, Question};
use crate::noise::Unit;
use crate::plan::QuestionPlan;

/// The bucket of a value by a public hash that differs from question to question.
#[must_use]
pub fn bucket(question: &str, value: &[u8], buckets: usize) -> usize {
    let digest = Sha256::new()
        .chain_update(b"murmuration distinct v1\0")
        .chain_update((question.len() as u64).to_le_bytes())
        .chain_update(question.as_bytes())
        .chain_update(value)
        .finalize();
    let mut word = [0; 8];
    word.copy_from_slice(&digest[..8]);
    (u64::from_le_bytes(word) % buckets as u64) as usize
}

/// How a node fills its buckets.
#[derive(Debug, Clone, Copy)]
pub struct DistinctResponse<'a> {
    /// What is asked.
    pub question: &'a Question,
    /// The column.
    pub column: usize,
    /// The probabilities.
    pub distinct: Distinct,
    /// m.
    pub buckets: usize,
}

impl<'a> DistinctResponse<'a> {
    /// That of a plan; `None` where it asks for something else.
    ///
    /// # Guarantee
    /// As [`Distinct::new`] for the unit of the plan: a replaced record is one that goes and one that comes, a node so many of them.
    ///
    /// # Assumes
    /// As [`Distinct::new`].
    #[must_use]
    pub fn of(plan: &'a QuestionPlan) -> Option<Self> {
        let Kind::Distinct(column) = plan.question.aggregates.first()?.kind else { return None };
        let terms = &plan.terms;
        let epsilon = match terms.unit {
            Unit::Record | Unit::Person => terms.epsilon,
            Unit::ReplacedRecord => terms.epsilon / 2.0,
            Unit::Node { max_records } => terms.epsilon / (2.0 * max_records as f64),
        };
        let distinct = Distinct::new(epsilon, BUCKETS, terms.contributors, terms.honest);
        Some(Self { question: &plan.question, column, distinct, buckets: BUCKETS })
    }

    /// Residues of a node without records: what it fills at random hides the others.
    ///
    /// # Guarantee
    /// They depend on no data.
    ///
    /// # Assumes
    /// `noise` is private.
    pub fn noise_alone(&self, noise: &mut dyn NoiseSource) -> Vec<u32> {
        self.residues(std::iter::empty(), noise)
    }
}

impl DistinctResponse<'_> {
    /// A residue for each bucket: 0, or uniform where the bucket is filled.
    ///
    /// # Guarantee
    /// Under masks the sum shows which buckets are empty and nothing else, which is ε-DP for a record there or blank.
    ///
    /// # Assumes
    /// As [`Distinct::new`]; `noise` is private.
    pub fn residues<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r Row>,
        noise: &mut dyn NoiseSource,
    ) -> Vec<u32> {
        let mut words = Words::new(noise);
        let mut held = vec![false; self.buckets];
        // One coin for each value that the node holds: a record more or less changes one coin or none.
        for value in self.values(rows) {
            let speaks = !words.chance(self.distinct.stay_silent());
            held[bucket(&self.question.text, &value, self.buckets)] |= speaks;
        }
        let fill = self.distinct.filled_by_one_node();
        held.into_iter().map(|held| if words.chance(fill) | held { words.residue() } else { 0 }).collect()
    }

    /// Different values among records.
    #[must_use]
    pub fn values<'r>(&self, rows: impl IntoIterator<Item = &'r Row>) -> BTreeSet<Vec<u8>> {
        let passes = |row: &&Row| self.question.filter.as_ref().is_none_or(|filter| filter.holds(row));
        rows.into_iter().filter(passes).filter_map(|row| row.get(self.column).and_then(bytes)).collect()
    }
}

/// A value as bytes; nothing where it is missing.
fn bytes(cell: &Cell) -> Option<Vec<u8>> {
    match cell {
        Cell::Missing => None,
        Cell::Number(value) => Some(value.to_le_bytes().to_vec()),
        Cell::Category(index) => Some((*index as u64).to_le_bytes().to_vec()),
        Cell::Other => Some(b"other".to_vec()),
        Cell::Text(text) => Some(text.clone()),
    }
}

/// Random words a few hundred at a time.
struct Words<'a> {
    noise: &'a mut dyn NoiseSource,
    words: Vec<u64>,
}

impl<'a> Words<'a> {
    fn new(noise: &'a mut dyn NoiseSource) -> Self {
        Self { noise, words: Vec::new() }
    }

    fn next(&mut self) -> u64 {
        if self.words.is_empty() {
            self.words = vec![0; 512];
            self.noise.words(&mut self.words);
        }
        self.words.pop().unwrap_or(0)
    }

    /// True with this probability, to 2⁻⁵³.
    fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) * libm::ldexp(1.0, -53) < probability
    }

    fn residue(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }
}
