use crate::Hint;
use proptest::prelude::*;

use super::*;

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges).unwrap().0
}

fn star(nodes: u32) -> Graph {
    graph(nodes as usize, &(1..nodes).map(|leaf| (0, leaf)).collect::<Vec<_>>())
}

fn weights_in_a_file(name: &str, text: &str) -> Weights {
    let path = std::env::temp_dir().join(format!("murmur-weights-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    Weights::File(path)
}

fn refusal(name: &str, text: &str) -> String {
    weights_in_a_file(name, text).matrix(&star(3)).unwrap_err().to_string()
}

#[test]
fn metropolis_on_a_path_has_the_weights_of_its_definition() {
    // Degrees 1, 2, 2, 1: each edge has a node of degree 2, so 1/3.
    let matrix = Weights::Metropolis.matrix(&graph(4, &[(0, 1), (1, 2), (2, 3)])).unwrap();
    let third = 1.0 / 3.0;
    for (i, j, expected) in [(0, 1, third), (1, 2, third), (0, 0, 2.0 * third), (1, 1, third), (0, 2, 0.0)] {
        assert!((matrix.weight(i, j) - expected).abs() < 1e-15, "W_{i}{j}");
    }
}

#[test]
fn the_lazy_matrix_is_the_mean_of_metropolis_and_the_identity() {
    let graph = star(6);
    let plain = Weights::Metropolis.matrix(&graph).unwrap();
    let lazy = Weights::LazyMetropolis.matrix(&graph).unwrap();
    for i in 0..6 {
        for j in 0..6 {
            let expected = 0.5 * (plain.weight(i, j) + if i == j { 1.0 } else { 0.0 });
            assert!((lazy.weight(i, j) - expected).abs() < 1e-15);
        }
    }
}

#[test]
fn uniform_weights_preserve_the_mean_only_on_regular_graphs() {
    let matrix = Weights::Uniform.matrix(&star(4)).unwrap();
    assert!(!matrix.is_doubly_stochastic());
    assert_eq!((matrix.weight(0, 1), matrix.weight(1, 0)), (0.25, 0.5));
    let ring = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    assert!(Weights::Uniform.matrix(&ring).unwrap().is_doubly_stochastic());
}

#[test]
fn a_single_node_keeps_its_value() {
    for weights in [Weights::Metropolis, Weights::MaxDegree, Weights::BestConstant, Weights::Uniform] {
        assert_eq!(weights.matrix(&graph(1, &[])).unwrap(), MixingMatrix::identity(1));
    }
}

#[test]
fn weights_from_a_file_are_taken_as_written() {
    let text = "# hub and two leaves\n0 0 0.333333\n0,1,0.333333\n0 2 0.333333\n\n1 0 0.333333\n1 1 0.666667\n2 0 0.333333\n2 2 0.666667\n";
    let matrix = weights_in_a_file("good", text).matrix(&star(3)).unwrap();
    assert_eq!((matrix.weight(0, 1), matrix.weight(1, 0)), (0.333333, 0.333333));
    assert!(matrix.is_symmetric() && matrix.is_doubly_stochastic());
}

#[test]
fn a_bad_line_of_weights_is_named_with_its_number() {
    assert!(refusal("fields", "0 0 1\n1 1\n").contains("line 2: expected three fields"));
    assert!(refusal("number", "0 0 x\n").contains("line 1: `x` is not a number"));
    assert!(refusal("nan", "# c\n0 0 NaN\n").contains("line 2: weights are finite"));
    assert!(refusal("edge", "1 2 0.5\n").contains("line 1: there is no edge"));
    assert!(refusal("node", "3 3 1\n").contains("line 1: no node `3`"));
    assert!(refusal("twice", "0 0 1\n0 0 1\n").contains("line 2: this weight was given in line 1"));
    assert!(refusal("sum", "0 0 0.9\n1 1 1\n2 2 1\n").contains("the weights of node 0 sum to 0.9"));
    assert!(refusal("empty", "").contains("the weights of node 0 sum to 0"));
}

#[test]
fn a_missing_file_of_weights_is_named() {
    let error = Weights::File("/nowhere/w.txt".into()).matrix(&star(3)).unwrap_err();
    assert!(error.to_string().contains("/nowhere/w.txt"));
}

#[test]
fn names_are_read_as_they_are_written() {
    for name in ["metropolis", "lazy-metropolis", "max-degree", "best-constant", "uniform", "file:a/b.txt"] {
        assert_eq!(name.parse::<Weights>().unwrap().to_string(), name);
    }
    let error = "metropolys".parse::<Weights>().unwrap_err();
    assert_eq!(error.to_string(), "unknown weights `metropolys`");
    assert!(error.hint().unwrap().contains("did you mean `metropolis`?"));
    assert!(matches!("file:".parse::<Weights>(), Err(TopologyError::MissingArgument { .. })));
}

fn any_graph() -> impl Strategy<Value = Graph> {
    (1usize..40).prop_flat_map(|nodes| {
        let edge = (0..nodes as u32, 0..nodes as u32);
        proptest::collection::vec(edge, 0..120).prop_map(move |edges| graph(nodes, &edges))
    })
}

proptest! {
    /// `MixingMatrix` checks that rows sum to one, so here it is enough that every kind is accepted; columns of
    /// the symmetric kinds follow.
    #[test]
    fn every_kind_makes_a_stochastic_matrix_on_every_graph(graph in any_graph()) {
        for weights in [Weights::Metropolis, Weights::LazyMetropolis, Weights::MaxDegree] {
            let matrix = weights.matrix(&graph).unwrap();
            prop_assert!(matrix.is_symmetric() && matrix.is_doubly_stochastic() && matrix.is_nonnegative());
            prop_assert_eq!(matrix.entries(), 2 * graph.edges() + graph.nodes());
        }
        let uniform = Weights::Uniform.matrix(&graph).unwrap();
        prop_assert!(uniform.is_nonnegative());
        for node in 0..graph.nodes() {
            let sum: f64 = uniform.row(node).1.iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn one_hears_exactly_ones_neighbours(graph in any_graph()) {
        let matrix = Weights::Metropolis.matrix(&graph).unwrap();
        for node in 0..graph.nodes() {
            let neighbours = graph.neighbours(node).iter().map(|&other| other as usize);
            prop_assert!(matrix.heard_by(node).eq(neighbours));
        }
    }
}
