//! Losses towards many watchers at once, in parallel.

use super::contractive::{self, Method, Update};
use super::error::NetworkError;
use super::message_noise::{self, Sender};
use super::run::{Run, Watchers};
use super::symmetry::Symmetry;
use super::waiting::Waiting;
use super::{linear, rounds};
use rayon::prelude::*;

/// Coalitions that the boundary method treats together: enough to fill its blocks of rows.
const TOGETHER: usize = 12;

/// How to price a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pricing {
    /// [`super::Analysis::Local`].
    Local,
    /// [`super::Analysis::Rounds`] without message noise.
    Rounds,
    /// [`super::Analysis::Rounds`] with message noise of this standard deviation, in units of σ.
    NoisyRounds(f64, Sender),
    /// [`super::Analysis::Contractive`].
    Contractive(Method, Update),
    /// [`super::Analysis::Linear`].
    Linear,
}

/// Loss μ² of every node towards each coalition, for Δ = σ = 1: one row per coalition, one entry per node, zero for members.
///
/// `progress` is called with the number of coalitions done since the last call, from several threads.
///
/// # Guarantee
/// That of the analysis named by `pricing`.
///
/// # Assumes
/// What that analysis assumes.
///
/// # Errors
/// What that analysis refuses.
pub fn losses(
    run: &Run,
    coalitions: &[Watchers],
    pricing: Pricing,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Vec<f64>>, NetworkError> {
    let mut flat = vec![0.0; coalitions.len() * run.nodes()];
    losses_into(run, coalitions, pricing, &Waiting::new(&|done, _| progress(done)), &mut flat)?;
    Ok(flat.chunks_exact(run.nodes()).map(<[f64]>::to_vec).collect())
}

/// As [`losses`], into one table of rows: `out[row * nodes + node]`. May be stopped by whoever waits.
///
/// # Guarantee
/// As [`losses`].
///
/// # Assumes
/// As [`losses`].
///
/// # Errors
/// What the analysis refuses, and [`NetworkError::Stopped`]; what stands in `out` then is of no meaning.
///
/// # Panics
/// Where `out` has not one entry for each coalition and node.
pub fn losses_into(
    run: &Run,
    coalitions: &[Watchers],
    pricing: Pricing,
    waiting: &Waiting<'_>,
    out: &mut [f64],
) -> Result<(), NetworkError> {
    assert_eq!(out.len(), coalitions.len() * run.nodes(), "one entry for each coalition and node");
    match (Symmetry::lone(coalitions), run.symmetry()) {
        (Some(watchers), Some(symmetry)) => carried(run, &watchers, symmetry, pricing, (waiting, out)),
        _ => each_into(run, coalitions, pricing, waiting, out),
    }
}

/// Prices one watcher of those that the network's symmetries take into each other, and carries its losses to the others: whoever is
/// asked about, a pair has the same figure.
fn carried(
    run: &Run,
    watchers: &[usize],
    symmetry: &Symmetry,
    pricing: Pricing,
    (waiting, out): (&Waiting<'_>, &mut [f64]),
) -> Result<(), NetworkError> {
    let (nodes, all) = (run.nodes(), watchers.len());
    let standing: Vec<usize> = watchers.iter().map(|&node| symmetry.representative(node)).collect();
    let mut priced = standing.clone();
    priced.sort_unstable();
    priced.dedup();
    let coalitions = priced.iter().map(|&node| Watchers::new(&[node], nodes));
    let coalitions = coalitions.collect::<Result<Vec<_>, _>>()?;
    let mut rows = vec![0.0; priced.len() * nodes];
    let tell = |now: usize, _: usize| waiting.done(now, all);
    each_into(run, &coalitions, pricing, &waiting.told(&tell), &mut rows)?;
    let slots = out.par_chunks_exact_mut(nodes).zip(watchers.par_iter().zip(&standing));
    slots.try_for_each(|(slot, (&node, standing))| {
        waiting.go_on()?;
        let at = priced.binary_search(standing).expect("all that stand for others are priced");
        symmetry.carry(node, &rows[at * nodes..(at + 1) * nodes], slot);
        Ok::<(), NetworkError>(())
    })?;
    waiting.done(all - priced.len(), all);
    Ok(())
}

fn each_into(
    run: &Run,
    coalitions: &[Watchers],
    pricing: Pricing,
    waiting: &Waiting<'_>,
    out: &mut [f64],
) -> Result<(), NetworkError> {
    match pricing {
        Pricing::Local => waiting.fill_rows(coalitions, out, |watchers| Ok(local(run, watchers))),
        Pricing::Rounds => {
            rounds::require_consensus(run)?;
            waiting.fill_rows(coalitions, out, |watchers| Ok(rounds::loss_of_rounds(run, watchers)))
        }
        Pricing::NoisyRounds(tau, sender) => {
            message_noise::check(run, tau, sender)?;
            let row = |watchers: &Watchers| Ok(message_noise::loss_of_rounds(run, watchers, tau, sender));
            waiting.fill_rows(coalitions, out, row)
        }
        Pricing::Contractive(Method::Boundary, update) => {
            boundary_into(run, coalitions, update, waiting, out)
        }
        Pricing::Contractive(Method::Riccati, update) => waiting
            .fill_rows(coalitions, out, |watchers| Ok(contractive::riccati::loss(run, watchers, update))),
        Pricing::Contractive(Method::Optimum, update) => {
            waiting.fill_rows(coalitions, out, |watchers| contractive::optimum::loss(run, watchers, update))
        }
        Pricing::Linear => linear_into(run, coalitions, waiting, out),
    }
}

/// Several coalitions together, which share a block of rows.
fn boundary_into(
    run: &Run,
    coalitions: &[Watchers],
    update: Update,
    waiting: &Waiting<'_>,
    out: &mut [f64],
) -> Result<(), NetworkError> {
    let slots = out.par_chunks_mut(TOGETHER * run.nodes());
    slots.zip(coalitions.par_chunks(TOGETHER)).try_for_each(|(slots, group)| {
        waiting.go_on()?;
        let rows = contractive::boundary::losses(run, group, update);
        slots.chunks_exact_mut(run.nodes()).zip(rows).for_each(|(slot, row)| slot.copy_from_slice(&row));
        waiting.done(group.len(), coalitions.len());
        Ok(())
    })
}

/// Long stretches for each thread, so that its tables are made once and not for every watcher.
fn linear_into(
    run: &Run,
    coalitions: &[Watchers],
    waiting: &Waiting<'_>,
    out: &mut [f64],
) -> Result<(), NetworkError> {
    let stretch = (coalitions.len() / (4 * rayon::current_num_threads())).clamp(1, 32);
    let slots = out.par_chunks_exact_mut(run.nodes()).zip(coalitions).with_min_len(stretch);
    slots.try_for_each_init(linear::Scratch::default, |scratch, (slot, watchers)| {
        waiting.go_on()?;
        slot.copy_from_slice(&linear::loss_with(scratch, run, watchers)?);
        waiting.done(1, coalitions.len());
        Ok(())
    })
}

/// Composition of a node's own releases: one unit for each contribution.
fn local(run: &Run, watchers: &Watchers) -> Vec<f64> {
    let contributions = |node: usize| match run.repeated_phase() {
        Some(phase) => run.rounds() * usize::from(phase.contributes(node)),
        None => run.phases().filter(|phase| phase.contributes(node)).count(),
    };
    (0..run.nodes())
        .map(|node| if watchers.contains(node) { 0.0 } else { contributions(node) as f64 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn together_and_one_by_one_cost_the_same_and_nothing_passes_local() {
        let run = Run::on_graph(matrix_of(&ring(11)), 1, 5).unwrap();
        let all: Vec<Watchers> = (0..11).map(|node| Watchers::new(&[node], 11).unwrap()).collect();
        let update = Update::lipschitz(1.0).unwrap();
        let methods = [Method::Boundary, Method::Riccati].map(|method| Pricing::Contractive(method, update));
        for pricing in methods.into_iter().chain([Pricing::Linear, Pricing::Local]) {
            let rows = losses(&run, &all, pricing, &|_| {}).unwrap();
            for (node, watchers) in all.iter().enumerate() {
                let alone = losses(&run, std::slice::from_ref(watchers), pricing, &|_| {}).unwrap();
                assert_eq!(rows[node], alone[0], "{pricing:?}, watcher {node}");
                assert!(rows[node].iter().all(|mu2| *mu2 <= 5.0 * (1.0 + 1e-9)), "{pricing:?}");
                assert_eq!(rows[node][node], 0.0);
            }
        }
    }
    #[test]
    fn what_symmetries_carry_is_what_each_would_learn() {
        let run = Run::on_graph(matrix_of(&hypercube(5)), 3, 1).unwrap();
        let noise = vec![1.0; 32];
        let all: Vec<Watchers> = (0..32).map(|node| Watchers::new(&[node], 32).unwrap()).collect();
        assert!(run.symmetry().is_some());
        let rows = losses(&run, &all, Pricing::Rounds, &|_| {}).unwrap();
        for (watchers, row) in all.iter().zip(rows) {
            let alone = rounds::loss_with_noise(&run, watchers, &noise);
            assert!(row.iter().zip(alone).all(|(a, b)| (a - b).abs() < 1e-10), "{watchers:?}");
        }
    }

    #[test]
    fn who_no_longer_waits_gets_no_figure() {
        let run = Run::on_graph(matrix_of(&ring(40)), 1, 3).unwrap();
        let all: Vec<Watchers> = (0..40).map(|node| Watchers::new(&[node], 40).unwrap()).collect();
        let update = Update::lipschitz(1.0).unwrap();
        let methods = [Method::Boundary, Method::Riccati].map(|method| Pricing::Contractive(method, update));
        for pricing in methods.into_iter().chain([Pricing::Linear, Pricing::Local]) {
            let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
            // The wish to stop comes with the first result.
            let progress = |now, all| {
                assert_eq!(all, 40);
                done.fetch_add(now, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
            };
            let mut out = vec![0.0; 40 * 40];
            let end = losses_into(&run, &all, pricing, &Waiting::new(&progress).until(&stop), &mut out);
            assert!(matches!(end, Err(NetworkError::Stopped)), "{pricing:?}: {end:?}");
            assert!(done.into_inner() < 40, "{pricing:?}");
        }
    }
}
