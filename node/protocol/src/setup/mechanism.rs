//! How the contributions of a run are made private: noise in floating point, or on a grid that all nodes share.

use std::sync::Arc;

use privacy::mechanisms::MechanismError;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize};

use super::data::Sizes;
use super::error::SetupError;
use crate::config::{Config, GridChoice, Masking, NoiseKind};
use crate::work::{Adjacency, Mechanism, OnGrid, Unit, WorkSettings};

/// The mechanism of a run whose noise is planned.
pub(super) fn mechanism(
    config: &Config,
    work: &WorkSettings,
    parameters: usize,
    sizes: Sizes,
) -> Result<Mechanism, SetupError> {
    let discrete = config.privacy.noise == NoiseKind::Discrete && !config.algorithm.kind.is_comparison();
    if !discrete || work.noise_multiplier <= 0.0 {
        return Ok(Mechanism::Reals);
    }
    let masked = config.privacy.masking == Masking::Pairwise;
    let on = on_grid(config, work, (parameters, if masked { config.nodes } else { 1 }), sizes)
        .map_err(SetupError::Grid)?;
    Ok(if masked { Mechanism::Grid(Arc::new(on)) } else { Mechanism::DiscreteReals(Arc::new(on)) })
}

fn on_grid(
    config: &Config,
    work: &WorkSettings,
    (dimension, nodes): (usize, usize),
    sizes: Sizes,
) -> Result<OnGrid, MechanismError> {
    let clip = work.clip.value();
    let noise_multiplier = shared(work.noise_multiplier);
    // As far as neighbouring sums can be apart, the largest coordinate in clip norms, and what a sum is divided by.
    let (distance, largest, divisor) = match &work.unit {
        Unit::Record { batch, common } | Unit::Person { batch, common } => {
            let distance = Adjacency::Record.clip_norms() * clip * (1.0 + common.slack);
            (distance, largest_batch(*batch, sizes, common.divisor), common.divisor)
        }
        Unit::Node { .. } | Unit::Value => (Adjacency::Node.clip_norms() * clip, 1, 1.0),
    };
    let load = Load {
        nodes: nodes as u64,
        dimension,
        noise_multiplier,
        largest: config.privacy.largest.map_or(largest, |largest| largest as u64),
        steps_at_most: None,
    };
    let grid = match config.privacy.grid {
        GridChoice::Auto => Grid::auto(load, work.clip)?,
        GridChoice::Bits32 => Grid::new(WordSize::Bits32, load, work.clip)?,
        GridChoice::Bits64 => Grid::new(WordSize::Bits64, load, work.clip)?,
    };
    let over_sensitivity = noise_multiplier / work.unit.adjacency().clip_norms();
    let mechanism = GridGaussian::with_multiplier(grid, over_sensitivity, grid.sensitivity_of(distance))?;
    Ok(OnGrid { mechanism, divisor: Some(divisor) })
}

/// Rounded up to nine digits: members must come to the same integers, and the last digits of a noise that was searched for may depend on the processor.
fn shared(noise_multiplier: f64) -> f64 {
    const CUT: u64 = (1 << 22) - 1;
    f64::from_bits((noise_multiplier.to_bits() + CUT) & !CUT)
}

/// Records of a batch, with room for more than eight deviations of a Poisson sample; what is beyond is held there, which costs accuracy and no privacy.
fn largest_batch(batch: Option<f64>, sizes: Sizes, divisor: f64) -> u64 {
    let records = match batch {
        Some(batch) => batch + 8.0 * batch.sqrt() + 32.0,
        None => sizes.largest.map_or(divisor, |largest| largest as f64),
    };
    (records.ceil() as u64).max(1)
}
