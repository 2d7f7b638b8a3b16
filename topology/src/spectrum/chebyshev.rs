//! Chebyshev-accelerated gossip: `y(t+1) = ω_{t+1} W y(t) + (1 − ω_{t+1}) y(t−1)` with `y(1) = W y(0)`.
//!
//! With all eigenvalues beside consensus in [−ρ, ρ] the coefficients are ω_1 = 1, ω_2 = 1/(1 − ρ²/2) and
//! ω_{t+1} = 1/(1 − ρ² ω_t/4), and after t rounds disagreement is at most 1/T_t(1/ρ) of what it was, where T_t is
//! the Chebyshev polynomial: about √(1/gap) rounds instead of 1/gap. Golub and Varga (1961); for gossip: Arioli and
//! Scott (2014).

use super::rounds::fewest;

/// The accelerated recurrence for a contraction ρ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chebyshev {
    /// `1 − ρ`.
    gap: f64,
}

impl Chebyshev {
    /// The recurrence for eigenvalues in `[−ρ, ρ]`, given `gap = 1 − ρ`; `None` unless `0 < gap ≤ 1`.
    pub fn new(gap: f64) -> Option<Self> {
        (gap > 0.0 && gap <= 1.0).then_some(Self { gap })
    }

    /// The coefficients ω_1 … ω_rounds.
    pub fn coefficients(&self, rounds: usize) -> Vec<f64> {
        let squared = (1.0 - self.gap) * (1.0 - self.gap);
        let next = |omega: &f64| {
            // ω_2 is the one exception of the recurrence: T_1(x) = x where later ones have 2x.
            let share = if *omega == 1.0 { 0.5 } else { 0.25 * omega };
            Some(1.0 / (1.0 - squared * share))
        };
        std::iter::successors(Some(1.0), next).take(rounds).collect()
    }

    /// The part of a disagreement that may be left after so many rounds: `1/T_t(1/ρ)`.
    pub fn remaining(&self, rounds: u64) -> f64 {
        if self.gap == 1.0 {
            f64::from(u8::from(rounds == 0))
        } else {
            1.0 / libm::cosh(rounds as f64 * self.rate())
        }
    }

    /// The fewest rounds with `1/T_t(1/ρ) ≤ tolerance`; `None` unless the tolerance is between zero and one.
    pub fn rounds(&self, tolerance: f64) -> Option<u64> {
        let wanted = 1.0 / tolerance;
        (tolerance > 0.0 && tolerance < 1.0)
            .then(|| if self.gap == 1.0 { 1 } else { fewest(libm::acosh(wanted) / self.rate()) })
    }

    /// `acosh(1/ρ)`, by the excess of 1/ρ over one, which a small gap keeps precise.
    fn rate(&self) -> f64 {
        let excess = self.gap / (1.0 - self.gap);
        libm::log1p(excess + libm::sqrt(excess * (2.0 + excess)))
    }
}
