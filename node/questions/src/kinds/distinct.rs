//! `count(DISTINCT code)`: how many buckets nobody filled. Needs masks: the sum shows only which buckets are empty.
//!
//! A holder of a value adds a uniform residue to the value's bucket, but stays silent with probability e^−ε; every node
//! also fills each bucket at random. So a bucket is non-empty with probability f without the value and
//! 1 − (1 − f)e^−ε with it.

use privacy::event::DpEvent;

use crate::estimate::half_width_in_deviations;

/// Buckets of a public hash.
pub const BUCKETS: usize = 4096;

/// The probabilities of one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distinct {
    epsilon: f64,
    buckets: f64,
    contributors: f64,
    honest: f64,
}

/// How many different values, between which ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistinctAnswer {
    /// The estimate, where every value is held by one node.
    pub value: f64,
    /// The lower end, where values are held by many nodes.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Distinct {
    /// A question of this ε among `contributors` nodes of which `honest` do not collude.
    ///
    /// # Guarantee
    /// Which buckets are empty is ε-DP for one record there or blank (replaced: 2ε): f = 1/(e^ε + 1) makes the odds of a
    /// filled bucket with and without the value at most e^ε, and those of an empty one exactly e^ε.
    ///
    /// # Assumes
    /// Masks hide everything but the sum, and at least `honest` nodes fill buckets at random as they should.
    #[must_use]
    pub fn new(epsilon: f64, buckets: usize, contributors: u64, honest: u64) -> Self {
        Self { epsilon, buckets: buckets as f64, contributors: contributors as f64, honest: honest as f64 }
    }

    /// The probability that a holder of a value says nothing.
    #[must_use]
    pub fn stay_silent(&self) -> f64 {
        libm::exp(-self.epsilon)
    }

    /// f: the probability that the honest nodes together fill a bucket at random.
    #[must_use]
    pub fn filled_by_the_honest(&self) -> f64 {
        1.0 / (libm::exp(self.epsilon) + 1.0)
    }

    /// The probability that one node fills a bucket at random: 1 − (1 − f)^{1/h}.
    #[must_use]
    pub fn filled_by_one_node(&self) -> f64 {
        -libm::expm1(libm::log1p(-self.filled_by_the_honest()) / self.honest)
    }

    /// The event that a ledger records: a response of two categories.
    #[must_use]
    pub fn event(&self) -> DpEvent {
        DpEvent::RandomizedResponse { epsilon: self.epsilon, categories: 2 }
    }

    /// The raw estimate from the number of empty buckets, below 0 where chance filled fewer than it should have; `None` where no bucket is empty.
    #[must_use]
    pub fn answer(&self, empty: f64) -> Option<DistinctAnswer> {
        let m = self.buckets;
        let share = empty / m;
        if share <= 0.0 {
            return None;
        }
        // ln of the probability that no node fills a bucket at random.
        let silence = libm::log1p(-self.filled_by_the_honest()) * self.contributors / self.honest;
        let load = -m * (libm::log(share) - silence);
        let deviation = (m * (1.0 - share) / share).sqrt();
        let half = half_width_in_deviations() * deviation;
        let speaks = 1.0 - self.stay_silent();
        Some(DistinctAnswer { value: load / speaks, low: load - half, high: (load + half) / speaks })
    }
}
