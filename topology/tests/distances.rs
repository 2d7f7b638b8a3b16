//! Distances of well-known graphs against published values.

use std::path::Path;

use topology::{Spec, files::read_edges};

/// networkx: `average_shortest_path_length(karate_club_graph())` = 2.408199643493761, diameter 5.
#[test]
fn the_karate_club_has_its_published_distances() {
    let built = "karate".parse::<Spec>().and_then(|spec| spec.build()).expect("built in");
    let summary = built.distance_summary().expect("connected");
    assert_eq!(summary.diameter, 5);
    assert!((summary.mean - 2.408_199_643_493_761).abs() < 1e-12, "{}", summary.mean);
    assert!(summary.is_diameter_exact() && summary.is_mean_exact());
}

/// SNAP's page of ego-Facebook gives the diameter as 8; networkx gives the mean distance as 3.6925068496963913.
#[test]
fn the_facebook_graph_has_its_published_distances() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/graphs/facebook_combined.txt.gz");
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return;
    }
    let (graph, _) = read_edges(&path).expect("a list of edges");
    let summary = graph.distance_summary().expect("connected");
    assert_eq!(summary.diameter, 8);
    assert!((summary.mean - 3.692_506_849_696_391_3).abs() < 1e-12, "{}", summary.mean);
}

/// A grid of r × c nodes has diameter r + c − 2, and mean distance (r + c) / 3 over pairs (Manhattan distance of
/// two random cells: (r² − 1)/(3r) + (c² − 1)/(3c) over all ordered pairs, equal ones included).
#[test]
fn a_grid_beyond_exact_work_has_its_exact_diameter_and_nearly_its_mean() {
    let (r, c) = (300.0f64, 200.0f64);
    let built = "grid:300x200".parse::<Spec>().and_then(|spec| spec.build()).expect("a grid");
    let summary = built.distance_summary().expect("connected");
    assert_eq!((summary.diameter, summary.diameter_at_most), (498, 498));
    let n = r * c;
    let exact = ((r * r - 1.0) / (3.0 * r) + (c * c - 1.0) / (3.0 * c)) * n / (n - 1.0);
    let error = summary.mean_standard_error.expect("an estimate");
    // The seed is fixed; five standard errors are passed with probability 6e-7.
    assert!((summary.mean - exact).abs() < 5.0 * error, "{} is not {exact} ± {error}", summary.mean);
}
