//! Losses towards many watchers at once, in parallel.

use super::contractive::{self, Method, Update};
use super::error::NetworkError;
use super::message_noise::{self, Sender};
use super::run::{Run, Watchers};
use super::{linear, rounds};
use rayon::prelude::*;

/// Coalitions that the boundary method treats together: enough to fill its blocks of rows.
const TOGETHER: usize = 8;

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
    let each = |price: &(dyn Fn(&Watchers) -> Result<Vec<f64>, NetworkError> + Sync)| {
        let row = |watchers: &Watchers| price(watchers).inspect(|_| progress(1));
        coalitions.par_iter().map(row).collect()
    };
    match pricing {
        Pricing::Local => each(&|watchers| Ok(local(run, watchers))),
        Pricing::Rounds => {
            rounds::require_consensus(run)?;
            each(&|watchers| Ok(rounds::loss_of_rounds(run, watchers)))
        }
        Pricing::NoisyRounds(tau, sender) => {
            message_noise::check(run, tau, sender)?;
            each(&|watchers| Ok(message_noise::loss_of_rounds(run, watchers, tau, sender)))
        }
        Pricing::Contractive(Method::Boundary, update) => {
            let group = |group: &[Watchers]| {
                let rows = contractive::boundary::losses(run, group, update);
                progress(group.len());
                rows
            };
            Ok(coalitions.par_chunks(TOGETHER).flat_map_iter(group).collect())
        }
        Pricing::Contractive(Method::Riccati, update) => {
            each(&|watchers| Ok(contractive::riccati::loss(run, watchers, update)))
        }
        Pricing::Contractive(Method::Optimum, update) => {
            each(&|watchers| contractive::optimum::loss(run, watchers, update))
        }
        Pricing::Linear => {
            // Long stretches for each thread, so that its tables are made once and not for every watcher.
            let stretch = (coalitions.len() / (4 * rayon::current_num_threads())).clamp(1, 32);
            let row = |scratch: &mut linear::Scratch, watchers: &Watchers| {
                linear::loss_with(scratch, run, watchers).inspect(|_| progress(1))
            };
            coalitions.par_iter().with_min_len(stretch).map_init(linear::Scratch::default, row).collect()
        }
    }
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
}
