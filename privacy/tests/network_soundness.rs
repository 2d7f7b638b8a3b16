//! The network accountant against exact arithmetic, against attacks, and against a protocol that breaks a popular analysis.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flate2::read::GzDecoder;
use privacy::network::contractive::{self, Update};
use privacy::network::message_noise::{self, Sender};
use privacy::network::{Run, Watchers, linear, published, rounds};
use privacy::noise::{NoiseSource, SeededNoise, danger_from_seed};
use std::io::Read;
use topology::{Graph, MixingMatrix, Spec, Weights};

fn build(spec: &str) -> Graph {
    spec.parse::<Spec>().unwrap().build().unwrap().graph
}

fn metropolis(graph: &Graph) -> MixingMatrix {
    Weights::Metropolis.matrix(graph).unwrap()
}

fn alone(node: usize, nodes: usize) -> Watchers {
    Watchers::new(&[node], nodes).unwrap()
}

/// Graph, steps and watcher, with the exact losses and the published sums.
type Cached = (String, String, String, Vec<f64>, Vec<f64>);

/// `testdata/muffliato_pairwise.csv.gz`: every ordered pair of three graphs, the exact loss in rational arithmetic beside the published sum.
#[test]
fn all_pairs_of_three_graphs_have_the_loss_of_rational_arithmetic() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/muffliato_pairwise.csv.gz");
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| {
        header.iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("{name}: {header:?}"))
    };
    let [graph_at, steps_at, u_at, v_at] = ["graph", "T", "u", "v"].map(column);
    let [exact_at, published_at] = ["exact_joint", "squared_t0"].map(column);
    let mut cached: Option<Cached> = None;
    let (mut compared, mut above_published) = (0, 0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let (name, steps, watcher) = (cells[graph_at], cells[steps_at], cells[v_at]);
        if cached
            .as_ref()
            .is_none_or(|(a, b, c, ..)| (a.as_str(), b.as_str(), c.as_str()) != (name, steps, watcher))
        {
            let matrix = metropolis(&build(name.split('_').next().unwrap()));
            let (nodes, k, v) = (matrix.nodes(), steps.parse().unwrap(), watcher.parse().unwrap());
            let sums = published::muffliato(&matrix, k, v).unwrap();
            let exact = rounds::loss(&Run::on_graph(matrix, k, 1).unwrap(), &alone(v, nodes)).unwrap();
            cached = Some((name.into(), steps.into(), watcher.into(), exact, sums));
        }
        let (.., exact, sums) = cached.as_ref().unwrap();
        let u: usize = cells[u_at].parse().unwrap();
        let value = |at: usize| cells[at].parse::<f64>().unwrap();
        assert!((exact[u] - value(exact_at)).abs() < 1e-6, "{line}: {}", exact[u]);
        assert!(
            (sums[u] - value(published_at)).abs() < 1e-6 * value(published_at).max(1.0),
            "{line}: {}",
            sums[u]
        );
        compared += 1;
        above_published += usize::from(name == "karate" && steps == "3" && exact[u] > sums[u] + 1e-9);
    }
    assert_eq!(compared, 6972);
    assert_eq!(
        above_published, 614,
        "pairs of karate after three steps that lose more than the paper prints"
    );
}

/// Arithmetic modulo the Mersenne prime 2^61 − 1.
mod modular {
    pub(crate) const P: u128 = (1 << 61) - 1;

    pub(crate) fn multiply(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % P) as u64
    }

    pub(crate) fn subtract(a: u64, b: u64) -> u64 {
        ((u128::from(a) + P - u128::from(b)) % P) as u64
    }

    pub(crate) fn inverse(a: u64) -> u64 {
        let (mut result, mut base, mut exponent) = (1u64, a, P as u64 - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = multiply(result, base);
            }
            base = multiply(base, base);
            exponent >>= 1;
        }
        result
    }

    pub(crate) fn rank(mut rows: Vec<Vec<u64>>) -> usize {
        let width = rows.first().map_or(0, Vec::len);
        let mut rank = 0;
        for column in 0..width {
            let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
            rows.swap(rank, pivot);
            let scale = inverse(rows[rank][column]);
            let pivot_row = rows[rank].clone();
            for row in rows.iter_mut().skip(rank + 1) {
                let factor = multiply(row[column], scale);
                if factor != 0 {
                    row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x = subtract(*x, multiply(factor, *p)));
                }
            }
            rank += 1;
        }
        rank
    }
}

/// Rank of {e_v} ∪ {e_w W^t : w ∈ N(v), t < K} with Metropolis weights, modulo a prime: an exact computation but for a chance of about n/2^61.
fn exact_rank(graph: &Graph, watcher: usize, steps: usize) -> usize {
    let nodes = graph.nodes();
    let weight = |u: usize, v: usize| modular::inverse(1 + graph.degree(u).max(graph.degree(v)) as u64);
    let own = |u: usize| {
        graph.neighbours(u).iter().fold(1, |rest, &v| modular::subtract(rest, weight(u, v as usize)))
    };
    let unit = |at: usize| (0..nodes).map(|node| u64::from(node == at)).collect::<Vec<_>>();
    let push = |row: &Vec<u64>| -> Vec<u64> {
        let entry = |j: usize| {
            let start = u128::from(modular::multiply(row[j], own(j)));
            let terms = graph
                .neighbours(j)
                .iter()
                .map(|&i| u128::from(modular::multiply(row[i as usize], weight(i as usize, j))));
            (terms.fold(start, |sum, term| sum + term) % modular::P) as u64
        };
        (0..nodes).map(entry).collect()
    };
    let mut rows = vec![unit(watcher)];
    let mut latest: Vec<Vec<u64>> = graph.neighbours(watcher).iter().map(|&w| unit(w as usize)).collect();
    for _ in 0..steps {
        rows.extend(latest.iter().cloned());
        latest = latest.iter().map(push).collect();
    }
    modular::rank(rows)
}

#[test]
fn the_rank_of_a_view_is_the_exact_rank() {
    let specs = [
        "path:9",
        "ring:12",
        "star:7",
        "grid:5x5",
        "hypercube:32",
        "karate",
        "florentine",
        "tree:15,branch=2",
        "regular:24,degree=3,seed=5",
    ];
    for spec in specs {
        let graph = build(spec);
        let nodes = graph.nodes();
        for steps in [1, 2, 3, 5, 8, 12] {
            let run = Run::on_graph(metropolis(&graph), steps, 1).unwrap();
            for watcher in [0, nodes / 2, nodes - 1] {
                let found = rounds::rank(run.phase(0), nodes, &alone(watcher, nodes));
                let expected = exact_rank(&graph, watcher, steps);
                assert_eq!(found, expected, "{spec}, {steps} steps, watcher {watcher}");
                let losses = rounds::loss(&run, &alone(watcher, nodes)).unwrap();
                let sum: f64 = losses.iter().sum::<f64>() + 1.0;
                assert!(
                    (sum - expected as f64).abs() < 1e-7,
                    "{spec}: leverage scores sum to {sum}, rank {expected}"
                );
            }
        }
    }
}

/// What node 0 of a path hears: node 1's state before each step, in float32 as on the wire, with optional message noise.
fn messages(
    matrix: &MixingMatrix,
    start: &[f32],
    steps: usize,
    tau: f32,
    noise: &mut SeededNoise,
) -> Vec<f32> {
    let mut state = start.to_vec();
    let mut heard = Vec::new();
    for _ in 0..steps {
        let received: Vec<Vec<f32>> = (0..state.len())
            .map(|to| {
                let (columns, _) = matrix.row(to);
                let mut fresh = vec![0.0f32; columns.len()];
                noise.standard_normals_f32(&mut fresh);
                let noisy = columns
                    .iter()
                    .zip(fresh)
                    .map(|(&from, n)| state[from as usize] + if from as usize == to { 0.0 } else { tau * n });
                noisy.collect()
            })
            .collect();
        let (columns, _) = matrix.row(0);
        heard.push(received[0][columns.iter().position(|&from| from == 1).unwrap()]);
        let mixed = |to: usize| matrix.row(to).1.iter().zip(&received[to]).map(|(&w, &y)| w as f32 * y).sum();
        state = (0..state.len()).map(mixed).collect();
    }
    heard
}

/// Solves for the start values from the first value and the messages, as a curious node 0 would.
fn reconstruct(matrix: &MixingMatrix, own: f32, heard: &[f32]) -> Vec<f64> {
    let nodes = matrix.nodes();
    let mut rows = vec![(0..nodes).map(|node| f64::from(u8::from(node == 0))).collect::<Vec<f64>>()];
    let mut row: Vec<f64> = (0..nodes).map(|node| f64::from(u8::from(node == 1))).collect();
    for _ in heard {
        rows.push(row.clone());
        row = (0..nodes).map(|j| (0..nodes).map(|i| row[i] * matrix.weight(i, j)).sum()).collect();
    }
    let values: Vec<f64> = std::iter::once(&own).chain(heard).map(|&x| f64::from(x)).collect();
    let system = faer::Mat::from_fn(rows.len(), nodes, |i, j| rows[i][j]);
    let right = faer::Mat::from_fn(rows.len(), 1, |i, _| values[i]);
    let svd = system.thin_svd().unwrap();
    let weights = faer::Mat::from_fn(nodes, 1, |k, _| {
        (svd.U().col(k).transpose() * right.col(0)) / svd.S().column_vector()[k]
    });
    let solved = svd.V() * weights;
    (0..nodes).map(|node| solved[(node, 0)]).collect()
}

/// Path of 8 nodes, 8 steps. Errors are in units of the noise that should protect: a node is recovered if its noisy value is known to a tenth.
#[test]
fn an_attack_on_float32_messages_recovers_what_the_account_calls_lost_and_nothing_behind_message_noise() {
    let matrix = metropolis(&build("path:8"));
    let run = Run::on_graph(matrix.clone(), 8, 1).unwrap();
    let clean = rounds::loss(&run, &alone(0, 8)).unwrap();
    assert!(clean[1..].iter().all(|mu2| *mu2 > 0.999_999), "the account says that all is lost: {clean:?}");
    let tau = 0.1;
    let noisy = message_noise::loss(&run, &alone(0, 8), tau, Sender::KeepsClean).unwrap();
    let protected: Vec<usize> = (1..8).filter(|&node| noisy[node] < 0.1).collect();
    assert!(protected.len() >= 3, "{noisy:?}");
    let mut noise = danger_from_seed(11, "noise");
    let (mut worst_clean, mut hidden_errors) = (0.0f64, Vec::new());
    for _ in 0..20 {
        let mut start = vec![0.0f32; 8];
        noise.standard_normals_f32(&mut start);
        let error = |tau: f32, noise: &mut SeededNoise| -> Vec<f64> {
            let found = reconstruct(&matrix, start[0], &messages(&matrix, &start, 8, tau, noise));
            found.iter().zip(&start).map(|(found, &truth)| (found - f64::from(truth)).abs()).collect()
        };
        worst_clean = error(0.0, &mut noise).into_iter().fold(worst_clean, f64::max);
        let noisy = error(tau as f32, &mut noise);
        hidden_errors.extend(protected.iter().map(|&node| noisy[node]));
    }
    assert!(worst_clean < 0.1, "{worst_clean}");
    // Guessing zero would be wrong by more than 0.1 in 92 of 100 cases; the attack must do no better in the protected part.
    let close = hidden_errors.iter().filter(|error| **error < 0.1).count();
    assert!(close * 8 < hidden_errors.len(), "{close} of {} within a tenth", hidden_errors.len());
}

/// A cycle of six whose local losses contract everything: f_u(θ) = ‖θ − b_u‖²/2 with step 1 makes each update b_u plus fresh noise. Node 1
/// changes its data for the last contribution only; its neighbour 0 watches.
#[test]
fn a_neighbour_distinguishes_more_than_linear_claims_and_never_more_than_contractive() {
    let (nodes, phases, trials) = (6, 20, 60_000);
    let matrix = metropolis(&build("ring:6"));
    let run = Run::on_graph(matrix.clone(), 1, phases).unwrap();
    let claimed = linear::loss_of_contribution(&run, &alone(0, nodes), phases - 1).unwrap()[1];
    assert!((claimed - 0.87).abs() < 0.01, "linear claims {claimed} of the local loss");
    // The last contribution alone: all earlier ones are the same, so a run of one phase prices it.
    let once = Run::on_graph(matrix.clone(), 1, 1).unwrap();
    let bound = contractive::boundary::loss(&once, &alone(0, nodes), Update::lipschitz(1.0).unwrap())[1];
    let mut noise = danger_from_seed(7, "noise");
    let mut draws = vec![0.0f64; phases * nodes];
    let mut says_changed = [0usize; 2];
    for (changed, count) in says_changed.iter_mut().enumerate() {
        for _ in 0..trials {
            let mut model = vec![0.0f64; nodes];
            let mut heard = 0.0;
            noise.standard_normals(&mut draws);
            for (phase, fresh) in draws.chunks_exact(nodes).enumerate() {
                let target =
                    |node: usize| if node == 1 && phase + 1 == phases { changed as f64 } else { 0.0 };
                // θ − 1·(θ − b) + noise.
                let sent: Vec<f64> =
                    (0..nodes).map(|node| model[node] - (model[node] - target(node)) + fresh[node]).collect();
                heard = sent[1];
                matrix.apply(&sent, &mut model);
            }
            *count += usize::from(heard > 0.5);
        }
    }
    // The best test for two Gaussians at distance μ has advantage 2Φ(μ/2) − 1; six standard deviations of the estimate are a false-alarm
    // rate of 1e-9.
    let advantage = (says_changed[1] as f64 - says_changed[0] as f64) / trials as f64;
    let slack = 6.0 * (0.5 / trials as f64).sqrt();
    let best = |mu2: f64| 2.0 * privacy::special::normal_cdf(mu2.sqrt() / 2.0) - 1.0;
    assert!(
        advantage - slack > best(claimed),
        "advantage {advantage} ± {slack}, linear allows {}",
        best(claimed)
    );
    assert!(
        advantage - slack <= best(bound),
        "advantage {advantage} ± {slack}, contractive allows {}",
        best(bound)
    );
}
