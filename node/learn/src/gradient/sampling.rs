//! Poisson sampling: each record enters a batch by a coin of its own.
//!
//! One object draws the sample and names the rate to the accountant. The rate is a multiple of 2⁻³² and decides by
//! comparing 32 random bits with an integer, so the probability used is the number accounted, bit for bit.

use privacy::event::DpEvent;
use privacy::noise::NoiseSource;
use serde::{Deserialize, Serialize};

use super::error::GradientError;

/// 2³²: the number of outcomes of one coin.
const OUTCOMES: u64 = 1 << 32;

/// The probability that a record enters a batch: a multiple of 2⁻³², above 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct SamplingRate {
    /// Outcomes of the coin that let a record in.
    winning: u64,
}

impl SamplingRate {
    /// Every record, always.
    pub const ALL: Self = Self { winning: OUTCOMES };

    /// The largest multiple of 2⁻³² that is at most `rate` (and at least one of them).
    ///
    /// # Errors
    /// A rate that is not above 0 and at most 1.
    pub fn new(rate: f64) -> Result<Self, GradientError> {
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(GradientError::Rate { rate });
        }
        Ok(Self { winning: ((rate * OUTCOMES as f64) as u64).max(1) })
    }

    /// The exact probability.
    pub fn probability(self) -> f64 {
        self.winning as f64 / OUTCOMES as f64
    }
}

impl TryFrom<f64> for SamplingRate {
    type Error = GradientError;

    fn try_from(rate: f64) -> Result<Self, Self::Error> {
        Self::new(rate)
    }
}

impl From<SamplingRate> for f64 {
    fn from(rate: SamplingRate) -> Self {
        rate.probability()
    }
}

/// Draws batches from a fixed number of records, and says what the accountant must know about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoissonSampler {
    rate: SamplingRate,
    population: usize,
}

impl PoissonSampler {
    /// Samples from `population` records with the given rate.
    pub fn new(rate: SamplingRate, population: usize) -> Self {
        Self { rate, population }
    }

    /// Batches of `expected` records on average; all records where that is not fewer than there are.
    ///
    /// # Errors
    /// No record, or an expected size that is not positive.
    pub fn for_batch(expected: f64, population: usize) -> Result<Self, GradientError> {
        let rate = expected / population as f64;
        Ok(Self::new(SamplingRate::new(if rate > 1.0 { 1.0 } else { rate })?, population))
    }

    /// The rate, exactly as used.
    pub fn rate(&self) -> SamplingRate {
        self.rate
    }

    /// Records sampled from.
    pub fn population(&self) -> usize {
        self.population
    }

    /// Records per batch on average: what sums are divided by. The size drawn is private, this one is not.
    pub fn expected_batch(&self) -> f64 {
        self.rate.probability() * self.population as f64
    }

    /// Draws a batch.
    ///
    /// # Guarantee
    /// Each record enters independently with probability exactly [`rate`](Self::rate).
    ///
    /// # Assumes
    /// The source's words are uniform, and secret: an observer who knows who was drawn gets no amplification.
    pub fn draw(&self, source: &mut dyn NoiseSource) -> Sample {
        if self.rate == SamplingRate::ALL {
            return Sample {
                records: (0..self.population as u32).collect(),
                sampler: *self,
                among: self.population,
            };
        }
        let mut words = vec![0; self.population.div_ceil(2)];
        source.words(&mut words);
        let coins = words.iter().flat_map(|&word| [word & (OUTCOMES - 1), word >> 32]);
        let drawn = (0..self.population as u32).zip(coins).filter(|&(_, coin)| coin < self.rate.winning);
        Sample { records: drawn.map(|(record, _)| record).collect(), sampler: *self, among: self.population }
    }

    /// What a Gaussian release on one batch is to the accountant, for adding or removing a record.
    ///
    /// # Guarantee
    /// The rate in the event is the probability that [`draw`](Self::draw) uses.
    pub fn event(&self, noise_multiplier: f64) -> DpEvent {
        self.event_of(DpEvent::Gaussian { noise_multiplier })
    }

    /// What an event on one batch is to the accountant.
    pub(crate) fn event_of(&self, event: DpEvent) -> DpEvent {
        if self.rate == SamplingRate::ALL { event } else { event.poisson_sampled(self.rate.probability()) }
    }
}

/// A batch that was drawn. Not `Clone`: a gradient uses it up, so that a second release needs a second draw.
#[derive(Debug)]
pub struct Sample {
    records: Vec<u32>,
    sampler: PoissonSampler,
    /// Records of the data that it was drawn from: as many as the sampler's population, unless that is one of persons.
    among: usize,
}

impl Sample {
    /// One record of each person that was drawn.
    pub(super) fn of_persons(records: Vec<u32>, sampler: PoissonSampler, among: usize) -> Self {
        Self { records, sampler, among }
    }

    /// Records of the data that it was drawn from.
    pub(crate) fn among(&self) -> usize {
        self.among
    }

    /// Record numbers, rising. Who was drawn is private.
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// Where it came from.
    pub fn sampler(&self) -> &PoissonSampler {
        &self.sampler
    }
}

#[cfg(test)]
mod tests {
    use privacy::noise::danger_from_seed;

    use super::*;

    #[test]
    fn the_rate_accounted_is_the_rate_used() {
        let sampler = PoissonSampler::for_batch(100.0, 30_000).unwrap();
        let DpEvent::PoissonSampled { rate, .. } = sampler.event(1.0) else { panic!("a sampled event") };
        assert_eq!(rate, sampler.rate().probability());
        assert!(rate <= 100.0 / 30_000.0 && rate > 100.0 / 30_000.0 - 2f64.powi(-32));
    }

    #[test]
    fn batches_have_binomial_sizes_and_every_record_the_same_chance() {
        let sampler = PoissonSampler::for_batch(250.0, 1_000).unwrap();
        let mut source = danger_from_seed(4, "batches");
        let mut counts = vec![0_u32; 1_000];
        for _ in 0..4_000 {
            let sample = sampler.draw(&mut source);
            // Binomial(1000, 1/4) has standard deviation 13.7: eight of them.
            assert!((140..360).contains(&sample.records().len()));
            sample.records().iter().for_each(|&record| counts[record as usize] += 1);
        }
        // Each count is Binomial(4000, 1/4) with variance 750; chi-square with 1000 degrees of freedom exceeds 1175 with
        // probability below 1e-4.
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1_000.0).powi(2) / 750.0).sum();
        assert!(chi2 < 1_175.0, "{chi2}");
    }

    #[test]
    fn neighbouring_records_are_drawn_independently() {
        // Two coins come from one word: pairs (2i, 2i+1) must be drawn together a quarter of the time.
        let sampler = PoissonSampler::for_batch(500.0, 1_000).unwrap();
        let mut source = danger_from_seed(5, "batches");
        let together: usize = (0..400)
            .map(|_| {
                let sample = sampler.draw(&mut source);
                sample.records().windows(2).filter(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1).count()
            })
            .sum();
        // Mean 50,000, standard deviation 194: five of them, false alarm below 1e-6.
        assert!(together.abs_diff(50_000) < 970, "{together}");
    }

    #[test]
    fn the_whole_set_needs_no_coin_and_no_amplification() {
        let sampler = PoissonSampler::for_batch(7.0, 5).unwrap();
        assert_eq!(sampler.draw(&mut danger_from_seed(1, "batches")).records(), [0, 1, 2, 3, 4]);
        assert_eq!(sampler.event(2.0), DpEvent::Gaussian { noise_multiplier: 2.0 });
    }

    #[test]
    fn impossible_rates_are_refused() {
        for rate in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(SamplingRate::new(rate).is_err(), "{rate}");
        }
        assert!(PoissonSampler::for_batch(0.0, 10).is_err());
    }
}
