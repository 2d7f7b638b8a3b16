//! Looks into masked rounds, as all members agree on them before a run: how many there may be, what one costs, and by what measure.

use privacy::mechanisms::grid::GridGaussian;
use privacy::network::inspection as price;

use super::inspection::Yardstick;
use crate::agreement::Measure;
use crate::algorithm::rounds::settings::most_numbers;
use crate::work::OnGrid;

/// k: how many directions.
pub(crate) const DIRECTIONS: usize = 32;
/// s ≥ 3√(2k + 2): noise, in steps, from which on a look has a price.
pub(crate) const LEAST_NOISE: u64 = 25;
/// Bounds that may fail do so with at most this part of δ.
const PART_OF_DELTA: f64 = 0.02;
/// e^(−t) is 10⁻⁹.
const LEAST_T: f64 = 20.7;
/// A look that shows more than this part of a contribution is not worth its price.
const LARGEST_SHARE: f64 = 0.5;
/// A plan keeps no more than this part of what it spends on contributions for looks that void rounds force.
const LARGEST_RESERVE: f64 = 0.1;

/// From so many parameters on coins are tossed by themselves, and in which part of the rounds.
const COIN: (usize, f64) = (10_000, 0.02);

/// What is known before the model is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::algorithm::rounds) struct LookTerms {
    pub(in crate::algorithm::rounds) rounds: u32,
    /// f.
    pub(in crate::algorithm::rounds) hostile: u32,
    pub(in crate::algorithm::rounds) delta: f64,
    /// n.
    pub(in crate::algorithm::rounds) nodes: usize,
    /// How often a coin says to look, where that was said.
    pub(in crate::algorithm::rounds) rate: Option<f64>,
}

impl LookTerms {
    /// What goes into δ where there was a look.
    pub(in crate::algorithm::rounds) fn chance(&self) -> f64 {
        PART_OF_DELTA * self.delta
    }
}

/// Looks into the rounds of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looks {
    /// d.
    pub dimension: u64,
    /// How often the coin of one member says to look: of one honest member or another as often as was asked for.
    pub own: f64,
    /// Bounds fail with e^(−t).
    pub t: f64,
    /// Most looks that void rounds force.
    pub forced: u64,
    /// Looks that coins make, on average.
    pub tossed: u64,
    /// Most looks that the coins of one member make.
    pub tosses: u32,
    /// Whether every round is priced as if it were looked into, so that a look costs nothing more.
    pub always: bool,
}

impl Looks {
    /// For a model of so many parameters; `None` where a look would show too much of a contribution.
    pub(in crate::algorithm::rounds) fn of(terms: LookTerms, parameters: usize) -> Option<Self> {
        let rate = terms.rate.unwrap_or(if parameters >= COIN.0 { COIN.1 } else { 0.0 });
        let (rounds, hostile) = (u64::from(terms.rounds), u64::from(terms.hostile));
        let forced = price::reserve(hostile, rounds);
        // Each member has coins of its own, of which hostile ones may say nothing.
        let honest = terms.nodes.saturating_sub(terms.hostile as usize).max(1) as f64;
        let own = if rate < 1.0 { 1.0 - libm::pow(1.0 - rate, 1.0 / honest) } else { 1.0 };
        let expected = rounds as f64 * own;
        let tossed = libm::ceil(expected * terms.nodes as f64) as u64;
        let tosses = if rate > 0.0 { 1 + libm::ceil(2.0 * expected) as u32 } else { 0 };
        // Whoever withholds its draw makes one more, and has no seat for as long as void rounds are barred.
        let withheld = hostile.saturating_mul(forced - hostile);
        let heeded = terms.nodes as u64 * u64::from(tosses);
        let draws = forced.saturating_add(heeded).saturating_add(withheld);
        let t = libm::log(2.0 * draws as f64 / terms.chance()).max(LEAST_T);
        let looks = Self { dimension: parameters as u64, own, t, forced, tossed, tosses, always: false };
        let share = price::share(DIRECTIONS as u64, looks.dimension, t).ok()?;
        (terms.delta > 0.0 && share <= LARGEST_SHARE).then_some(looks)
    }

    /// The same where every round is priced as if it were looked into: where records are sampled, that is a part of a step **with** amplification.
    ///
    /// # Guarantee
    /// As [`Self::part`]: bounds fail with the same chance in all rounds together.
    pub(in crate::algorithm::rounds) fn in_every_round(mut self, terms: LookTerms) -> Self {
        let numbers = f64::from(most_numbers(terms.rounds));
        // Each number is a draw, whether or not it is made.
        let withheld = f64::from(terms.hostile) * self.forced as f64;
        self.t = libm::log(2.0 * (numbers + withheld) / terms.chance()).max(self.t);
        self.always = true;
        self
    }

    /// What every round costs more where each is priced as if it were looked into, as a part of a full charge; 0 where looks are priced by themselves.
    ///
    /// # Guarantee
    /// Total and projections of a round are one Gaussian release of whatever was drawn, with μ² of the masked round and this together (see
    /// [`privacy::network::inspection`]); where records are sampled the pair is amplified as one step, since the directions do not depend on what was drawn. That only some of
    /// the projections are opened, by coins or by what the total is, is post-processing. But for [`LookTerms::chance`] over the whole run.
    ///
    /// # Assumes
    /// As [`price::price`]; noise of at least [`LEAST_NOISE`] steps.
    pub(crate) fn part(&self) -> f64 {
        let share = || price::price(u64::MAX, DIRECTIONS as u64, self.dimension, LEAST_NOISE as f64, self.t);
        if self.always { share().unwrap_or(1.0) } else { 0.0 }
    }

    /// What a look adds to the charge of a round of so many members, towards whoever watches, as a part of a full one; nothing where it is in the price of every round.
    ///
    /// # Guarantee
    /// As [`price::price`], but for [`LookTerms::chance`] over the whole run. This part has no amplification by sampling.
    ///
    /// # Assumes
    /// As there; noise of at least [`LEAST_NOISE`] steps.
    pub(crate) fn price(&self, among: usize) -> f64 {
        if self.always {
            return 0.0;
        }
        let honest = among.saturating_sub(1).max(1) as u64;
        price::price(honest, DIRECTIONS as u64, self.dimension, LEAST_NOISE as f64, self.t).unwrap_or(1.0)
    }

    /// For how many looks a plan has room, where rounds cost so much together.
    pub(in crate::algorithm::rounds) fn planned(&self, rounds: f64, look: f64) -> u64 {
        if self.always {
            return 0;
        }
        let most = libm::floor(LARGEST_RESERVE * rounds / look).max(1.0) as u64;
        self.tossed + self.forced.min(most)
    }

    /// By what measure members look.
    pub(in crate::algorithm::rounds) fn measure(&self, on: &OnGrid) -> Option<Measure> {
        let mechanism: &GridGaussian = &on.mechanism;
        let (grid, directions) = (mechanism.grid(), DIRECTIONS as u64);
        let longest = grid.largest() as f64 + libm::sqrt(self.dimension as f64);
        let lengths = (longest, mechanism.noise() as f64);
        let yardstick = Yardstick::new(grid.size(), (directions, self.dimension), lengths, self.t).ok()?;
        (on.behind == DIRECTIONS && mechanism.noise() >= LEAST_NOISE).then_some(Measure {
            directions: DIRECTIONS as u32,
            dimension: self.dimension,
            bits: grid.size().bits(),
            most: yardstick.most().to_bits(),
            toss: (self.own * libm::exp2(64.0)) as u64,
            tosses: self.tosses,
        })
    }
}
