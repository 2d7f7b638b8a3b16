//! How the contributions of a run are made private: noise in floating point, or on a grid that all nodes share.

use std::sync::Arc;

use privacy::mechanisms::MechanismError;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize};
use privacy::network::inspection;

use super::data::Sizes;
use super::error::SetupError;
use crate::algorithm::{DIRECTIONS, LEAST_NOISE};
use crate::config::{Config, GridChoice, Masking, NoiseKind, Proofs};
use crate::work::{Adjacency, Mechanism, OnGrid, Unit, WorkSettings};

/// The mechanism of a run whose noise is planned.
pub(super) fn mechanism(
    config: &Config,
    work: &WorkSettings,
    (parameters, looks): (usize, bool),
    sizes: Sizes,
) -> Result<Mechanism, SetupError> {
    let discrete = config.privacy.noise == NoiseKind::Discrete && !config.algorithm.kind.is_comparison();
    if !discrete || work.noise_multiplier <= 0.0 {
        return Ok(Mechanism::Reals);
    }
    let masked = config.privacy.masking == Masking::Pairwise;
    // A total with proofs has all the room that it needs: what must fit is one contribution.
    let added_up = masked && config.privacy.proofs == Proofs::None;
    let among = (if added_up { config.nodes } else { 1 }, looks && masked);
    let on = on_grid(config, work, (parameters, among), sizes).map_err(SetupError::Grid)?;
    Ok(if masked { Mechanism::Grid(Arc::new(on)) } else { Mechanism::DiscreteReals(Arc::new(on)) })
}

fn on_grid(
    config: &Config,
    work: &WorkSettings,
    (dimension, (nodes, looks)): (usize, (usize, bool)),
    sizes: Sizes,
) -> Result<OnGrid, MechanismError> {
    // The largest coordinate, in clip norms.
    let largest = match &work.unit {
        Unit::Record { batch, common } | Unit::Person { batch, common } => {
            largest_batch(*batch, sizes, common.divisor)
        }
        Unit::Node { .. } | Unit::Value => 1,
    };
    let load = Load {
        nodes: nodes as u64,
        dimension,
        noise_multiplier: shared(work.noise_multiplier),
        largest: config.privacy.largest.map_or(largest, |largest| largest as u64),
        steps_at_most: None,
    };
    for_load(config, work, (load, looks))
}

/// The same with room for sums of so many members. The noise is as many times the sensitivity as before, so a contribution costs what it did.
pub(super) fn with_room(
    (config, work): (&Config, &WorkSettings),
    before: &Mechanism,
    members: usize,
) -> Result<Mechanism, SetupError> {
    let Mechanism::Grid(on) = before else { return Ok(before.clone()) };
    let load = *on.mechanism.grid().load();
    if members as u64 <= load.nodes {
        return Ok(before.clone());
    }
    let load = Load { nodes: members as u64, steps_at_most: None, ..load };
    let on = for_load(config, work, (load, on.behind > 0)).map_err(SetupError::Grid)?;
    Ok(Mechanism::Grid(Arc::new(on)))
}

fn for_load(
    config: &Config,
    work: &WorkSettings,
    (load, looks): (Load, bool),
) -> Result<OnGrid, MechanismError> {
    let clip = work.clip.value();
    // As far as neighbouring sums can be apart, and what a sum is divided by.
    let (distance, divisor) = match &work.unit {
        Unit::Record { common, .. } | Unit::Person { common, .. } => {
            (Adjacency::Record.clip_norms() * clip * (1.0 + common.slack), common.divisor)
        }
        Unit::Node { .. } | Unit::Value => (Adjacency::Node.clip_norms() * clip, 1.0),
    };
    let narrow = if looks { with_room_for_looks(load) } else { load };
    let grid = match config.privacy.grid {
        // As many as proofs are about.
        _ if config.privacy.proofs != Proofs::None => Grid::new(WordSize::Bits32, load, work.clip)?,
        // As by itself, but projections of narrow words need room too.
        GridChoice::Auto => match Grid::new(WordSize::Bits32, narrow, work.clip) {
            Ok(grid) if libm::sqrt(load.dimension as f64) <= 0.01 * grid.steps() as f64 => grid,
            Ok(_) | Err(_) => Grid::auto(load, work.clip).and_then(|grid| match grid.size() {
                WordSize::Bits32 if looks => Grid::new(WordSize::Bits64, load, work.clip),
                WordSize::Bits32 | WordSize::Bits64 => Ok(grid),
            })?,
        },
        GridChoice::Bits32 => Grid::new(WordSize::Bits32, narrow, work.clip)?,
        GridChoice::Bits64 => Grid::new(WordSize::Bits64, load, work.clip)?,
    };
    let over_sensitivity = load.noise_multiplier / work.unit.adjacency().clip_norms();
    let mechanism = GridGaussian::with_multiplier(grid, over_sensitivity, grid.sensitivity_of(distance))?;
    let least = if looks { LEAST_NOISE } else { 0 };
    let mechanism = if mechanism.noise() < least {
        GridGaussian::new(grid, least, grid.sensitivity_of(distance))?
    } else {
        mechanism
    };
    Ok(OnGrid { mechanism, divisor: Some(divisor), behind: if looks { DIRECTIONS } else { 0 } })
}

/// Projections of what one member sends, or of a few that are as long together, must not wrap either.
fn with_room_for_looks(load: Load) -> Load {
    let most = inspection::steps_at_most(load.largest, load.noise_multiplier, load.dimension as u64);
    Load { steps_at_most: Some(most.max(1)), ..load }
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
