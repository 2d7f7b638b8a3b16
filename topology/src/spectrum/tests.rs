use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;
use crate::weights::Weights;

fn graph(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Graph {
    let edges: Vec<(u32, u32)> = edges.into_iter().map(|(u, v)| (u as u32, v as u32)).collect();
    Graph::from_edges(nodes, &edges).unwrap().0
}

fn ring(nodes: usize) -> Graph {
    graph(nodes, (0..nodes).map(|i| (i, (i + 1) % nodes)))
}

fn path(nodes: usize) -> Graph {
    graph(nodes, (1..nodes).map(|i| (i - 1, i)))
}

fn star(nodes: usize) -> Graph {
    graph(nodes, (1..nodes).map(|leaf| (0, leaf)))
}

fn complete(nodes: usize) -> Graph {
    graph(nodes, (0..nodes).flat_map(|u| (0..u).map(move |v| (v, u))))
}

fn hypercube(dimensions: usize) -> Graph {
    let nodes = 1 << dimensions;
    graph(nodes, (0..nodes).flat_map(|u| (0..dimensions).map(move |d| (u, u ^ (1 << d)))))
}

fn torus(rows: usize, columns: usize) -> Graph {
    let node = move |r: usize, c: usize| (r % rows) * columns + c % columns;
    let edges = move |r: usize, c: usize| [(node(r, c), node(r + 1, c)), (node(r, c), node(r, c + 1))];
    graph(rows * columns, (0..rows).flat_map(move |r| (0..columns).flat_map(move |c| edges(r, c))))
}

fn spectrum(graph: &Graph, weights: &Weights) -> Spectrum {
    Spectrum::of(&weights.matrix(graph).unwrap()).unwrap()
}

fn assert_ends(what: &str, graph: &Graph, lambda2: f64, lambda_min: f64) {
    let found = spectrum(graph, &Weights::Metropolis);
    assert!((found.lambda2 - lambda2).abs() < 1e-9, "{what}: {found:?}, expected λ_2 = {lambda2}");
    assert!((found.lambda_min - lambda_min).abs() < 1e-9, "{what}: {found:?}, expected λ_n = {lambda_min}");
    assert!((found.spectral_gap - (1.0 - lambda2)).abs() < 1e-9, "{what}: {found:?}");
}

/// Eigenvalues (1 + 2 cos(2πk/n))/3.
#[test]
fn a_ring_has_its_closed_form() {
    for nodes in [3usize, 4, 5, 8, 33, 100, 1000] {
        let value = |k: usize| (1.0 + 2.0 * (2.0 * PI * k as f64 / nodes as f64).cos()) / 3.0;
        assert_ends(&format!("ring:{nodes}"), &ring(nodes), value(1), value(nodes / 2));
    }
}

/// The relative precision of a gap of 2.6e-7 (1.3e-7 for n = 10,000) is what rounds depend on.
#[test]
fn the_tiny_gap_of_a_long_ring_keeps_its_digits() {
    let nodes = 7001;
    let exact = 4.0 / 3.0 * (PI / nodes as f64).sin().powi(2);
    let found = spectrum(&ring(nodes), &Weights::Metropolis);
    assert!((found.spectral_gap / exact - 1.0).abs() < 1e-7, "{found:?}, expected {exact}");
}

/// A path of n nodes with all weights 1/3 has the eigenvalues 1/3 + 2/3 cos(kπ/n): here the gap is 8.2e-10. So long a
/// path is solved by elimination, with uniform weights in the symmetric form of a reversible matrix.
#[test]
fn a_very_long_path_is_solved_by_elimination() {
    let nodes = 20_000;
    let matrix = Weights::Metropolis.matrix(&path(nodes)).unwrap();
    let found = Spectrum::of(&matrix).unwrap();
    let exact = 4.0 / 3.0 * (PI / (2.0 * nodes as f64)).sin().powi(2);
    assert!((found.spectral_gap / exact - 1.0).abs() < 1e-7, "{found:?}, expected {exact}");
    assert!((found.lambda_min - (-1.0 / 3.0 + exact)).abs() < 1e-9, "{found:?}");
    assert!(found.iterations < 500, "{found:?}");
    let uniform = spectrum(&path(3000), &Weights::Uniform);
    assert!(uniform.lambda2_error < 1e-9 && uniform.iterations < 500, "{uniform:?}");
}

/// Eigenvalues 1 − 2k/(d+1).
#[test]
fn a_hypercube_has_its_closed_form() {
    for dimensions in 1..=11 {
        let d = dimensions as f64;
        let expected = (1.0 - 2.0 / (d + 1.0), 1.0 - 2.0 * d / (d + 1.0));
        assert_ends(&format!("hypercube of {d}"), &hypercube(dimensions), expected.0, expected.1);
    }
}

#[test]
fn a_complete_graph_is_mixed_in_one_round() {
    for nodes in [2, 3, 10, 65] {
        assert_ends(&format!("complete:{nodes}"), &complete(nodes), 0.0, 0.0);
        assert_eq!(spectrum(&complete(nodes), &Weights::Metropolis).mixing_rounds(1e-3).unwrap(), Some(1));
    }
}

/// Eigenvalues (1 + 2 cos(2πa/r) + 2 cos(2πb/c))/5.
#[test]
fn a_torus_has_its_closed_form() {
    for (rows, columns) in [(3usize, 3usize), (4, 6), (5, 7), (32, 32), (10, 45)] {
        let value = |a: usize, b: usize| {
            let angle = |k: usize, n: usize| (2.0 * PI * k as f64 / n as f64).cos();
            (1.0 + 2.0 * angle(a, rows) + 2.0 * angle(b, columns)) / 5.0
        };
        let second = value(1, 0).max(value(0, 1));
        assert_ends(
            &format!("{rows}x{columns}"),
            &torus(rows, columns),
            second,
            value(rows / 2, columns / 2),
        );
    }
}

/// Weights 1/n at the hub: eigenvalues 1 − 1/n (n − 2 times) and 0.
#[test]
fn a_star_has_its_closed_form() {
    for nodes in [3usize, 4, 10, 1000] {
        assert_ends(&format!("star:{nodes}"), &star(nodes), 1.0 - 1.0 / nodes as f64, 0.0);
    }
}

#[test]
fn lazy_weights_halve_the_gap() {
    let plain = spectrum(&torus(5, 7), &Weights::Metropolis);
    let lazy = spectrum(&torus(5, 7), &Weights::LazyMetropolis);
    assert!((lazy.spectral_gap - plain.spectral_gap / 2.0).abs() < 1e-9);
    assert!((lazy.lambda_min - (1.0 + plain.lambda_min) / 2.0).abs() < 1e-9);
}

/// By design λ_2 = −λ_n for the best constant step; on a star, whose Laplacian has 1 and n, both are
/// ±(n − 1)/(n + 1).
#[test]
fn the_best_constant_step_balances_both_ends() {
    let found = spectrum(&star(20), &Weights::BestConstant);
    assert!((found.lambda2 - 19.0 / 21.0).abs() < 1e-9 && (found.lambda_min + 19.0 / 21.0).abs() < 1e-9);
    assert!(!Weights::BestConstant.matrix(&star(20)).unwrap().is_nonnegative());
    for graph in [ring(17), torus(4, 6), path(30)] {
        let best = spectrum(&graph, &Weights::BestConstant);
        assert!((best.lambda2 + best.lambda_min).abs() < 1e-9);
        assert!(best.contraction() <= spectrum(&graph, &Weights::MaxDegree).contraction() + 1e-9);
    }
}

#[test]
fn a_graph_in_two_parts_never_mixes() {
    let parts = graph(6, [(0, 1), (1, 2), (3, 4), (4, 5)]);
    for weights in [Weights::Metropolis, Weights::Uniform] {
        let found = spectrum(&parts, &weights);
        assert_eq!((found.lambda2, found.spectral_gap), (1.0, 0.0));
        assert_eq!(found.mixing_rounds(1e-3).unwrap(), None);
        assert_eq!(found.chebyshev_rounds(1e-3).unwrap(), None);
    }
    assert!(matches!(Weights::BestConstant.matrix(&parts), Err(TopologyError::BestConstantDisconnected)));
}

/// Row-normalised A + I of a star: the chain is reversible, and the two-dimensional part that is symmetric in
/// the leaves has trace 1/n + 1/2, so beside 1 it has 1/n − 1/2; the rest is 1/2.
#[test]
fn uniform_weights_on_a_star_have_their_closed_form() {
    let nodes = 12;
    let found = spectrum(&star(nodes), &Weights::Uniform);
    assert!((found.lambda2 - 0.5).abs() < 1e-9, "{found:?}");
    assert!((found.lambda_min - (1.0 / nodes as f64 - 0.5)).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_matrix_that_is_not_reversible_is_refused() {
    // A walk that turns in one direction: its eigenvalues are complex.
    let turning = MixingMatrix::new(vec![0, 2, 4, 6], vec![0, 1, 1, 2, 0, 2], vec![0.5; 6]).unwrap();
    assert!(matches!(Spectrum::of(&turning), Err(TopologyError::NotReversible { .. })));
    // Both directions, but with a drift that no law balances.
    let drift = vec![0.2, 0.5, 0.3, 0.3, 0.2, 0.5, 0.5, 0.3, 0.2];
    let drifting = MixingMatrix::new(vec![0, 3, 6, 9], vec![0, 1, 2, 0, 1, 2, 0, 1, 2], drift).unwrap();
    assert!(matches!(Spectrum::of(&drifting), Err(TopologyError::NotReversible { .. })));
}

#[test]
fn the_walk_on_an_even_ring_never_mixes() {
    // Simple walk: bipartite, so λ_n = −1.
    let nodes = 10u32;
    let mut columns = Vec::new();
    for i in 0..nodes {
        let mut pair = [(i + 1) % nodes, (i + nodes - 1) % nodes];
        pair.sort_unstable();
        columns.extend(pair);
    }
    let offsets = (0..=nodes as usize).map(|i| 2 * i).collect();
    let walk = MixingMatrix::new(offsets, columns, vec![0.5; 20]).unwrap();
    let found = Spectrum::of(&walk).unwrap();
    assert!((found.lambda_min + 1.0).abs() < 1e-12);
    assert!(found.mixing_rounds(1e-3).unwrap().is_none_or(|rounds| rounds > 1_000_000_000_000));
}

#[test]
fn a_single_node_is_mixed() {
    let found = Spectrum::of(&MixingMatrix::identity(1)).unwrap();
    assert_eq!((found.spectral_gap, found.contraction()), (1.0, 0.0));
}

fn dense_eigenvalues(matrix: &MixingMatrix) -> Vec<f64> {
    let nodes = matrix.nodes();
    let dense = faer::Mat::from_fn(nodes, nodes, |i, j| {
        let sign = matrix.weight(i, j).signum();
        sign * (matrix.weight(i, j) * matrix.weight(j, i)).sqrt()
    });
    dense.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The dense solver sees √(W_ij W_ji), the symmetric form of any reversible matrix.
    #[test]
    fn random_graphs_agree_with_a_dense_solver(
        nodes in 2usize..70,
        edges in proptest::collection::vec((0usize..1000, 0usize..1000), 0..150),
    ) {
        let spanning = (1..nodes).map(|i| (i, (i * 7919) % i));
        let more = edges.iter().map(|&(u, v)| (u % nodes, v % nodes));
        let graph = graph(nodes, spanning.chain(more));
        for weights in [Weights::Metropolis, Weights::MaxDegree, Weights::Uniform, Weights::BestConstant] {
            let matrix = weights.matrix(&graph).unwrap();
            let dense = dense_eigenvalues(&matrix);
            let found = Spectrum::of(&matrix).unwrap();
            prop_assert!((found.lambda2 - dense[nodes - 2]).abs() < 1e-9, "{weights}: {found:?}, {}", dense[nodes - 2]);
            prop_assert!((found.lambda_min - dense[0]).abs() < 1e-9, "{weights}: {found:?}, {}", dense[0]);
        }
    }
}

#[test]
fn mixing_rounds_are_the_fewest_that_reach_the_tolerance() {
    for (nodes, tolerance) in [(5usize, 1e-3), (20, 1e-3), (33, 1e-6), (8, 0.5)] {
        let found = spectrum(&ring(nodes), &Weights::Metropolis);
        let rounds = found.mixing_rounds(tolerance).unwrap().unwrap();
        assert!(found.contraction().powf(rounds as f64) <= tolerance * (1.0 + 1e-9));
        assert!(found.contraction().powf(rounds as f64 - 1.0) > tolerance);
    }
    let found = spectrum(&ring(5), &Weights::Metropolis);
    for tolerance in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(found.mixing_rounds(tolerance), Err(TopologyError::BadTolerance { .. })));
        assert!(found.chebyshev_rounds(tolerance).is_err());
    }
}

/// Runs the recurrence itself: after the promised rounds nothing is further than the tolerance from the mean, in the
/// 2-norm and from any start; one round earlier some start is (the eigenvector of λ_2 or λ_n).
#[test]
fn chebyshev_rounds_are_what_the_recurrence_needs() {
    let matrix = Weights::Metropolis.matrix(&path(12)).unwrap();
    let found = Spectrum::of(&matrix).unwrap();
    let rounds = found.chebyshev_rounds(1e-3).unwrap().unwrap() as usize;
    assert!(rounds < found.mixing_rounds(1e-3).unwrap().unwrap() as usize / 3);
    let coefficients = found.chebyshev().unwrap().coefficients(rounds);
    let remaining = |eigenvalue: f64, rounds: usize| {
        let (mut before, mut now) = (1.0, eigenvalue);
        for omega in &coefficients[1..rounds] {
            (before, now) = (now, omega * eigenvalue * now + (1.0 - omega) * before);
        }
        now
    };
    for eigenvalue in dense_eigenvalues(&matrix).into_iter().take(11) {
        assert!(remaining(eigenvalue, rounds).abs() <= 1e-3 * (1.0 + 1e-9));
    }
    assert!(remaining(found.lambda2, rounds - 1).abs() > 1e-3);
    assert!((remaining(1.0, rounds) - 1.0).abs() < 1e-12, "the mean is preserved");
}

/// `gap_metropolis` of the table was computed with another solver; it has nine digits.
#[test]
fn gaps_of_real_networks_agree_with_the_published_table() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/graphs");
    let Ok(table) = std::fs::read_to_string(folder.join("graphs.csv")) else {
        println!("skipped: no table of networks at ../shared/data/graphs");
        return;
    };
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (Ok(gap), Some(graph)) = (fields[9].parse::<f64>(), read_edges(&folder, fields[0])) else {
            continue;
        };
        let found = spectrum(&graph.largest_component(), &Weights::Metropolis);
        assert!((found.spectral_gap / gap - 1.0).abs() < 1e-7, "{}: {found:?}, table {gap}", fields[0]);
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} networks compared");
}

fn read_edges(folder: &std::path::Path, name: &str) -> Option<Graph> {
    use std::io::Read;
    let paths = ["edges.gz", "txt.gz"].map(|end| folder.join(format!("{name}.{end}")));
    let file = paths.iter().find_map(|path| std::fs::File::open(path).ok())?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).ok()?;
    let numbers =
        |line: &str| line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<Vec<usize>>>();
    let edges: Vec<(usize, usize)> = text
        .lines()
        .filter_map(numbers)
        .filter(|pair| pair.len() == 2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let nodes = edges.iter().map(|&(u, v)| u.max(v) + 1).max()?;
    Some(graph(nodes, edges))
}
