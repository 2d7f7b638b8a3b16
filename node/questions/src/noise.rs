//! How much noise a question needs: κ of (ε, δ), the members, and who may collude.
//!
//! A question with b blocks of sensitivities Δ_i is one Gaussian release: block i is divided by Δ_i√b, the whole then
//! has sensitivity 1, and κ = 1/μ is the noise of (ε, δ). A block with noise s_i = κΔ_i√b on its sum costs exactly that.

use privacy::event::DpEvent;
use privacy::gdp;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// Who is trusted with what, and so where noise is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    #[default]
    /// Masks hide everything but the total: noise of all honest members counts (analysis `masked`).
    Masked,
    /// No masks: a first partner sees a whole contribution, so each node adds all the noise (analysis `rounds`).
    Gossip,
    /// Nobody: each node is one person and answers for itself (analysis `local`).
    Local,
}

impl Trust {
    /// The word people write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Masked => "masked",
            Self::Gossip => "gossip",
            Self::Local => "local",
        }
    }

    /// The analysis behind the figure of ε.
    #[must_use]
    pub fn analysis(self) -> &'static str {
        match self {
            Self::Masked => "masked",
            Self::Gossip => "rounds",
            Self::Local => "local",
        }
    }
}

/// Whose data a change of the input may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum Unit {
    /// One record, there or blank.
    Record,
    /// One record, replaced by another.
    ReplacedRecord,
    /// One person, there or blank: one record of each person counts, drawn once and kept.
    Person,
    /// All records of a node, replaced by others, of which at most so many count.
    Node {
        /// `questions.max_records`: the most a node contributes.
        max_records: u64,
    },
}

impl Unit {
    /// The factor on the sensitivity of a record that is there or blank. Features of two records have an inner product of
    /// at least 0, so a replaced record moves a sum by √2 and a count, which is 1 for both, by 1.
    ///
    /// # Guarantee
    /// The ℓ₂ change of a block's sum between neighbours is at most this times the block's Δ.
    ///
    /// # Assumes
    /// Features of any two records have a non-negative inner product (all blocks here; `count` has one coordinate).
    #[must_use]
    pub fn factor(self, is_count: bool) -> f64 {
        let replaced = if is_count { 1.0 } else { std::f64::consts::SQRT_2 };
        match self {
            Self::Record | Self::Person => 1.0,
            Self::ReplacedRecord => replaced,
            Self::Node { max_records } => replaced * max_records as f64,
        }
    }

    /// The most records by which neighbours differ: one that goes and one that comes are two.
    pub(crate) fn records_changed(self) -> f64 {
        match self {
            Self::Record | Self::Person => 1.0,
            Self::ReplacedRecord => 2.0,
            Self::Node { max_records } => 2.0 * max_records as f64,
        }
    }

    /// Words for a plan.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Record => "one record".into(),
            Self::ReplacedRecord => "one record replaced".into(),
            Self::Person => "one person".into(),
            Self::Node { max_records } => format!("one node of at most {max_records} records"),
        }
    }
}

/// What a question may cost, and among whom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// ε of the whole question.
    pub epsilon: f64,
    /// δ of the whole question.
    pub delta: f64,
    /// n: members that contribute or add noise.
    pub contributors: u64,
    /// h = n − colluders: members whose noise nobody else knows.
    pub honest: u64,
    /// Where noise is added.
    pub trust: Trust,
    /// What is protected.
    pub unit: Unit,
}

impl Terms {
    /// κ = 1/μ: noise of a release of sensitivity 1, rounded up.
    ///
    /// # Guarantee
    /// A Gaussian release with noise κ per unit of sensitivity is (ε, δ)-DP, by the exact δ(ε) of the Gaussian.
    ///
    /// # Assumes
    /// Nothing else was released; compositions add μ² in the ledger.
    ///
    /// # Errors
    /// If ε is not positive and finite, or δ outside (0, 1), or no noise is enough.
    pub fn kappa(&self) -> Result<f64, Refusal> {
        if !(self.epsilon.is_finite() && self.epsilon > 0.0) {
            return Err(Refusal::Epsilon { value: self.epsilon });
        }
        let kappa =
            gdp::sigma(self.epsilon, self.delta, 1.0).map_err(|_| Refusal::Delta { value: self.delta })?;
        if kappa.is_finite() { Ok(kappa) } else { Err(Refusal::Delta { value: self.delta }) }
    }

    /// The noise s on the sum of a block of this sensitivity, among `blocks` blocks.
    ///
    /// # Guarantee
    /// With this deviation on every coordinate of each of the blocks (each with its own sensitivity), everything that is
    /// seen by those of whom `trust` speaks costs at most (ε, δ).
    ///
    /// # Assumes
    /// `masked`: at most n − h members collude and masks are pseudorandom. `gossip`, `local`: nothing.
    ///
    /// # Errors
    /// As [`kappa`](Self::kappa), and if the members are fewer than one or the honest more than all.
    pub fn noise(&self, sensitivity: f64, blocks: usize) -> Result<f64, Refusal> {
        self.check()?;
        let (n, h) = (self.contributors as f64, self.honest as f64);
        let spread = match self.trust {
            Trust::Masked => n / h,
            Trust::Gossip | Trust::Local => n,
        };
        Ok(self.kappa()? * sensitivity * (blocks as f64 * spread).sqrt())
    }

    /// By how much less the mean pair of a gossip sees than the worst pair: √(log₂ n/(n − 1)).
    #[must_use]
    pub fn mean_pair_factor(&self) -> f64 {
        let n = self.contributors as f64;
        if n < 2.0 { 1.0 } else { (libm::log2(n) / (n - 1.0)).sqrt().min(1.0) }
    }

    /// The event that a ledger records for the question: one Gaussian of multiplier κ.
    ///
    /// # Guarantee
    /// Prices at most (ε, δ) of these terms.
    ///
    /// # Assumes
    /// Noise as [`noise`](Self::noise) says was added to every block.
    ///
    /// # Errors
    /// As [`kappa`](Self::kappa).
    pub fn event(&self) -> Result<DpEvent, Refusal> {
        Ok(DpEvent::Gaussian { noise_multiplier: self.kappa()? })
    }

    /// Whether the numbers of members make sense.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.contributors == 0 || self.honest == 0 || self.honest > self.contributors {
            return Err(Refusal::Members { contributors: self.contributors, honest: self.honest });
        }
        match self.unit {
            Unit::Node { max_records: 0 } => Err(Refusal::NoMaxRecords),
            _ => Ok(()),
        }
    }
}
