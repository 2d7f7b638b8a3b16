//! From what adds up (μ², Rényi divergences) to ε at δ.

use learn::calibrate;
use privacy::accountant::AccountError;
use privacy::event::DpEvent;
use privacy::{gdp, rdp};

use super::{Prices, ReleaseKind};

/// In which units losses are added up, and how they become ε.
#[derive(Debug, Clone, PartialEq)]
pub enum Units {
    /// μ²: exact where no contribution is on a sample.
    Gaussian,
    /// D_α at these orders.
    Renyi(Vec<f64>),
}

impl Units {
    /// The units that suit contributions like `kind`, of which a node makes `count`, towards watchers that see between 1 and `least` of each: at most `most`
    /// Rényi orders around those that are best at the two ends.
    pub fn for_kind(kind: ReleaseKind, (count, least): (u64, f64), delta: f64, most: usize) -> Self {
        let ReleaseKind::Sampled { .. } = kind else { return Self::Gaussian };
        let best = |leverage: f64| best_order(kind, &[(leverage, count.max(1))], delta);
        let (low, high) = (0.8 * (best(1.0) - 1.0), 1.25 * (best(least) - 1.0));
        let high = high.max(1.01 * low);
        let most = most.max(2);
        let order = |at: usize| 1.0 + low * libm::pow(high / low, at as f64 / (most - 1) as f64);
        // Whole orders are cheaper, and above four the difference does not matter.
        let mut orders: Vec<f64> =
            (0..most).map(order).map(|order| if order > 4.0 { order.round() } else { order }).collect();
        orders.dedup();
        Self::Renyi(orders)
    }

    /// The same for a run that may be stopped, or looked at, after any number of contributions up to `count`: the orders that suit the whole run, and as many as
    /// there is room for between those that suit one contribution and those that suit all. They do not depend on where the run stands, so that a page
    /// which watches it and a report which is made afterwards say the same about the same round.
    pub fn for_any_length(kind: ReleaseKind, (count, least): (u64, f64), delta: f64, most: usize) -> Self {
        const WHOLE_RUN: usize = 12;
        let Self::Renyi(mut orders) = Self::for_kind(kind, (count, least), delta, most.min(WHOLE_RUN)) else {
            return Self::Gaussian;
        };
        let Self::Renyi(single) = Self::for_kind(kind, (1, least), delta, 2) else { return Self::Gaussian };
        let low = orders.first().copied().unwrap_or(2.0) - 1.0;
        let high = single.last().copied().unwrap_or(2.0).max(orders.last().copied().unwrap_or(2.0)) - 1.0;
        let more = most.saturating_sub(orders.len());
        let between = |at: usize| 1.0 + low * libm::pow(high / low, (at + 1) as f64 / (more + 1) as f64);
        let tidy = |order: f64| if order > 4.0 { order.round() } else { order };
        orders.extend((0..more).map(between).map(tidy));
        orders.sort_by(f64::total_cmp);
        orders.dedup();
        Self::Renyi(orders)
    }

    /// How many numbers a loss is.
    pub fn len(&self) -> usize {
        match self {
            Self::Gaussian => 1,
            Self::Renyi(orders) => orders.len(),
        }
    }

    /// Whether a loss is no number at all: only for an empty list of orders.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The prices of a kind of contribution in these units.
    pub fn prices(&self, kind: ReleaseKind) -> Prices {
        Prices::new(match self {
            Self::Gaussian => vec![kind.gaussian_price()],
            Self::Renyi(orders) => orders.iter().map(|&order| kind.renyi_price(order)).collect(),
        })
    }

    /// ε at δ of a loss in these units.
    ///
    /// # Guarantee
    /// A view whose loss is at most `spent`, in each unit, is (ε, δ)-DP; rounded up.
    ///
    /// # Assumes
    /// Losses were added up over everything that the watcher saw; δ in (0, 1).
    pub fn epsilon(&self, spent: &[f64], delta: f64) -> f64 {
        match self {
            Self::Gaussian => epsilon_of_mu2(spent[0], delta),
            Self::Renyi(orders) => {
                if spent.iter().all(|&spent| spent == 0.0) {
                    return 0.0;
                }
                let bounds = orders.iter().zip(spent);
                bounds
                    .map(|(&order, &spent)| rdp::conversion::epsilon(order, spent, delta))
                    .fold(f64::INFINITY, f64::min)
            }
        }
    }
}

/// ε at δ of a Gaussian loss; infinite where μ² is infinite or δ is no probability.
///
/// # Guarantee
/// A √μ²-Gaussian-DP view is (ε, δ)-DP; rounded up.
///
/// # Assumes
/// μ² was added up over everything that the watcher saw.
pub fn epsilon_of_mu2(mu2: f64, delta: f64) -> f64 {
    gdp::epsilon(mu2.sqrt() * (1.0 + 4.0 * f64::EPSILON), delta).unwrap_or(f64::INFINITY)
}

/// The μ² whose Gaussian curve passes through (ε, δ).
///
/// This is how a loss that is not Gaussian is put on the scale of μ² in reports: a description, **not** a bound. The view is (ε, δ)-DP; it need not be
/// √μ²-Gaussian-DP.
pub fn mu2_through(epsilon: f64, delta: f64) -> f64 {
    match gdp::mu(epsilon, delta) {
        // The solver rounds μ down, a loss rounds up.
        Ok(mu) if epsilon > 0.0 => mu * mu * (1.0 + 1e-12),
        Ok(_) => 0.0,
        Err(_) => f64::INFINITY,
    }
}

/// ε of many μ² at one δ, remembered in bins: each μ² is taken for the upper end of its bin, 64 to an octave, which is at most 0.8 % more ε.
#[derive(Debug, Clone)]
pub(super) struct Binned {
    delta: f64,
    known: Vec<f64>,
}

impl Binned {
    const SHIFT: u32 = 46;

    pub(super) fn new(delta: f64) -> Self {
        Self { delta, known: Vec::new() }
    }

    /// At least [`epsilon_of_mu2`].
    pub(super) fn epsilon(&mut self, mu2: f64) -> f64 {
        if mu2 == 0.0 {
            return 0.0;
        }
        let bin = (mu2.to_bits() >> Self::SHIFT) as usize;
        if self.known.is_empty() {
            self.known = vec![f64::NAN; 1 << (64 - Self::SHIFT)];
        }
        let known = self.known[bin];
        if !known.is_nan() {
            return known;
        }
        let above = f64::from_bits((bin as u64 + 1) << Self::SHIFT);
        let epsilon = if above.is_finite() { epsilon_of_mu2(above, self.delta) } else { f64::INFINITY };
        self.known[bin] = epsilon;
        epsilon
    }
}

/// ε at δ of contributions of one kind, given as `(leverage, count)`.
///
/// # Guarantee
/// A watcher with these leverages has a view that is (ε, δ)-DP: exact for Gaussians on all records; for samples the best Rényi order, and where all is
/// seen in full the privacy-loss distribution if that is less.
///
/// # Assumes
/// As [`super::Price::of`], and that losses of the rounds add up.
///
/// # Errors
/// δ outside (0, 1).
pub fn epsilon_of(kind: ReleaseKind, leverages: &[(f64, u64)], delta: f64) -> Result<f64, AccountError> {
    gdp::epsilon(0.0, delta)?;
    let seen = || leverages.iter().filter(|(leverage, count)| *leverage > 0.0 && *count > 0);
    match kind {
        _ if seen().next().is_none() => Ok(0.0),
        ReleaseKind::NonPrivate => Ok(f64::INFINITY),
        ReleaseKind::Gaussian { .. } => {
            let price = kind.gaussian_price();
            let mu2: f64 = seen().map(|&(leverage, count)| price.of(leverage) * count as f64).sum();
            Ok(epsilon_of_mu2(mu2 * (1.0 + 1e-13), delta))
        }
        ReleaseKind::Sampled { .. } => {
            let order = best_order(kind, leverages, delta);
            let renyi = rdp::conversion::epsilon(order, divergence(kind, leverages, order), delta);
            let count: u64 = seen().map(|(_, count)| count).sum();
            // Seeing less is never worse than seeing all.
            let in_full = DpEvent::Composed { event: Box::new(kind.event()), count };
            Ok(renyi.min(calibrate::epsilon(&in_full, delta)?))
        }
    }
}

/// Σ count·D_α over the leverages.
pub(super) fn divergence(kind: ReleaseKind, leverages: &[(f64, u64)], order: f64) -> f64 {
    let price = kind.renyi_price(order);
    leverages.iter().map(|&(leverage, count)| price.of(leverage) * count as f64).sum::<f64>() * (1.0 + 1e-13)
}

/// The Rényi order that proves the least ε: a grid by a quarter, then whole orders or halves around the best.
pub(super) fn best_order(kind: ReleaseKind, leverages: &[(f64, u64)], delta: f64) -> f64 {
    let price = |order: f64| rdp::conversion::epsilon(order, divergence(kind, leverages, order), delta);
    let coarse = (0..30).map(|at| 1.0 + 0.25 * libm::pow(1.35, f64::from(at)));
    let tidy = |order: f64| if order > 8.0 { order.round() } else { order };
    let least = |orders: &mut dyn Iterator<Item = f64>| {
        orders
            .map(|order| (price(order), order))
            .fold((f64::INFINITY, 2.0), |a, b| if b.0 < a.0 { b } else { a })
    };
    let (first, around) = least(&mut coarse.map(tidy));
    let fine = (-3..=3).map(|at| 1.0 + (around - 1.0) * libm::pow(1.35, 0.25 * f64::from(at)));
    let (second, refined) = least(&mut fine.map(tidy));
    if second < first { refined } else { around }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_leverages_add_up_exactly() {
        let kind = ReleaseKind::Gaussian { noise_multiplier: 4.0 };
        let found = epsilon_of(kind, &[(1.0, 2), (0.25, 8), (0.0, 100)], 1e-5).unwrap();
        let expected = gdp::epsilon((4.0f64 / 16.0).sqrt(), 1e-5).unwrap();
        assert!(found >= expected && found < expected * (1.0 + 1e-9), "{found} {expected}");
        assert_eq!(epsilon_of(kind, &[], 1e-5).unwrap(), 0.0);
        assert_eq!(epsilon_of(ReleaseKind::NonPrivate, &[(0.5, 1)], 1e-5).unwrap(), f64::INFINITY);
        assert!(epsilon_of(kind, &[], 1.0).is_err());
    }

    #[test]
    fn samples_cost_less_than_without_sampling_and_seeing_less_costs_less() {
        let sampled = ReleaseKind::Sampled { rate: 0.05, noise_multiplier: 1.2 };
        let plain = ReleaseKind::Gaussian { noise_multiplier: 1.2 };
        let epsilon = |kind, leverage| epsilon_of(kind, &[(leverage, 40)], 1e-5).unwrap();
        assert!(epsilon(sampled, 1.0) < epsilon(plain, 1.0));
        assert!(epsilon(sampled, 0.2) < epsilon(sampled, 0.5));
        assert!(epsilon(sampled, 0.5) < epsilon(sampled, 1.0));
        // Half seen is noise larger by √2: the privacy-loss distribution of that is a lower bound, and not far.
        let noisier = ReleaseKind::Sampled { rate: 0.05, noise_multiplier: 1.2 * 2f64.sqrt() };
        let tight = epsilon(noisier, 1.0);
        let found = epsilon(sampled, 0.5);
        assert!(found >= tight * (1.0 - 1e-3) && found < 1.35 * tight, "{found} {tight}");
    }

    #[test]
    fn orders_chosen_in_advance_are_nearly_as_good_as_the_best() {
        let kind = ReleaseKind::Sampled { rate: 0.02, noise_multiplier: 1.0 };
        let units = Units::for_kind(kind, (200, 1.0 / 64.0), 1e-5, 12);
        let mut prices = units.prices(kind);
        for leverage in [1.0, 0.25, 1.0 / 64.0] {
            let spent: Vec<f64> = prices.of(leverage).iter().map(|price| 200.0 * price).collect();
            let order = best_order(kind, &[(leverage, 200)], 1e-5);
            let best = rdp::conversion::epsilon(order, divergence(kind, &[(leverage, 200)], order), 1e-5);
            let found = units.epsilon(&spent, 1e-5);
            assert!(found >= best * (1.0 - 1e-3) && found <= 1.05 * best, "{leverage}: {found} {best}");
        }
    }

    #[test]
    fn the_gaussian_through_a_point_has_that_epsilon() {
        let mu2 = mu2_through(2.0, 1e-5);
        assert!((epsilon_of_mu2(mu2, 1e-5) - 2.0).abs() < 1e-9);
        assert_eq!(mu2_through(0.0, 1e-5), 0.0);
        assert_eq!(mu2_through(f64::INFINITY, 1e-5), f64::INFINITY);
    }
}
