//! Every kind of bad spec gets one clear message that names the value, and a hint.

use topology::Hint;
use topology::{Spec, SpecError};

/// The message and the hint of a spec that must be refused without building anything.
fn refused(text: &str) -> (String, String) {
    let error: SpecError = text.parse::<Spec>().map(|_| ()).expect_err(text);
    let hint = error.hint().unwrap_or_else(|| panic!("{text}: no hint for {error}"));
    (error.to_string(), hint)
}

#[track_caller]
fn assert_refused(text: &str, message_parts: &[&str], hint_parts: &[&str]) {
    let (message, hint) = refused(text);
    for part in message_parts {
        assert!(message.contains(part), "{text}: message `{message}` lacks `{part}`");
    }
    for part in hint_parts {
        assert!(hint.contains(part), "{text}: hint `{hint}` lacks `{part}`");
    }
}

#[test]
fn an_unknown_family_lists_the_names_and_suggests_the_nearest() {
    assert_refused(
        "hypercub:64",
        &["hypercub"],
        &["did you mean `hypercube`", "watts-strogatz", "ring", "file"],
    );
    assert_refused("er:100,p=0.1", &["er"], &["did you mean `erdos-renyi`"]);
    let (_, hint) = refused("banana:7");
    assert!(!hint.contains("did you mean") && hint.contains("barabasi-albert"), "{hint}");
}

#[test]
fn a_bare_path_is_told_about_file() {
    assert_refused("data/graph.edges", &["data/graph.edges"], &["file:data/graph.edges"]);
}

#[test]
fn a_missing_key_is_named() {
    assert_refused("regular:100", &["regular", "degree"], &["regular:1000,degree=6"]);
    assert_refused("erdos-renyi:100", &["p or mean_degree"], &["mean_degree"]);
    assert_refused("watts-strogatz:100,k=4", &["beta"], &["beta"]);
    assert_refused("geometric:100", &["radius"], &[]);
    assert_refused("sbm:100,blocks=2,p_in=0.5", &["p_out"], &[]);
    for text in ["barabasi-albert:100", "k-out:100", "harary:100", "watts-strogatz:100,beta=0.1"] {
        assert_refused(text, &["needs the key"], &["for example"]);
    }
}

#[test]
fn an_unknown_key_is_named_and_the_nearest_suggested() {
    assert_refused("regular:100,degre=4", &["degre"], &["did you mean `degree`"]);
    assert_refused("ring:100,seed=1", &["ring", "seed"], &["takes no keys"]);
    assert_refused("regular:100,degree=4,degree=5", &["degree", "twice"], &[]);
    assert_refused("erdos-renyi:100,p=0.1,mean_degree=3", &["p", "mean_degree"], &[]);
    assert_refused("regular:100,degree", &["degree", "key=value"], &[]);
    assert_refused("karate:34", &["karate", "34"], &[]);
}

#[test]
fn a_size_that_does_not_fit_is_named() {
    assert_refused("hypercube:1000", &["hypercube:1000", "power of two", "512 or 1024"], &["hypercube:256"]);
    assert_refused("ring:2", &["ring:2", "at least 3"], &[]);
    assert_refused("grid:45", &["grid:45", "rows x columns"], &["grid:45x45"]);
    assert_refused("torus:2x9", &["3 rows"], &[]);
    assert_refused("ring:10x10", &["one number"], &[]);
    for text in ["ring:0", "path:0", "complete:0", "grid:0x5", "hypercube:0", "tree:0", "hypercube:1"] {
        assert_refused(text, &["node"], &["for example"]);
    }
    for text in [
        "ring:",
        "ring",
        "ring:abc",
        "ring:-5",
        "ring:1.5",
        "grid:ax3",
        "ring: ,",
        "regular:degree=3",
        "file:",
    ] {
        refused(text);
    }
}

#[test]
fn a_value_outside_its_range_is_named() {
    assert_refused("erdos-renyi:100,p=1.5", &["p=1.5", "[0, 1]"], &[]);
    assert_refused("erdos-renyi:100,p=-0.1", &["p=-0.1", "[0, 1]"], &[]);
    assert_refused("erdos-renyi:100,p=NaN", &["p=NaN"], &[]);
    assert_refused("erdos-renyi:100,mean_degree=100", &["mean_degree=100", "99"], &[]);
    assert_refused("sbm:100,blocks=2,p_in=2,p_out=0.1", &["p_in=2", "[0, 1]"], &[]);
    assert_refused("sbm:100,blocks=0,p_in=1,p_out=0.1", &["blocks=0"], &[]);
    assert_refused("watts-strogatz:100,k=4,beta=inf", &["beta=inf"], &[]);
    assert_refused("watts-strogatz:100,k=5,beta=0.1", &["k=5", "even"], &[]);
    assert_refused("geometric:100,radius=0", &["radius=0"], &[]);
    assert_refused("geometric:100,radius=2", &["radius=2"], &[]);
    assert_refused("barabasi-albert:10,m=10", &["m=10", "between 1 and 9"], &[]);
    assert_refused("k-out:10,k=10", &["k=10"], &[]);
    assert_refused("harary:10,k=1", &["k=1"], &[]);
    assert_refused("tree:10,branch=0", &["branch=0"], &[]);
    assert_refused("regular:100,degree=4,seed=x", &["seed=x"], &[]);
    assert_refused("regular:100,degree=4,connected=no", &["connected=no"], &[]);
}

#[test]
fn an_odd_number_of_edge_ends_is_refused() {
    assert_refused("regular:101,degree=3", &["degree=3", "odd"], &[]);
    assert_refused("regular:10,degree=10", &["degree=10", "between 1 and 9"], &[]);
    assert_refused("regular:10,degree=1", &["never connected"], &[]);
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    for text in [
        "ring:1000000000000",
        "complete:1000000000000",
        "complete:100000",
        "grid:1000000x1000000",
        "grid:99999999999999999999x99999999999999999999",
        "torus:1000000x1000000",
        "hypercube:1099511627776",
        "star:100000000000000000000000000",
        "tree:1000000000000",
        "exponential:1000000000000",
        "regular:1000000000000,degree=6",
        "regular:1000000,degree=999998",
        "erdos-renyi:1000000000000,p=0",
        "erdos-renyi:10000000,p=0.5",
        "watts-strogatz:1000000000000,k=4,beta=0.1",
        "barabasi-albert:1000000000000,m=2",
        "geometric:1000000,radius=1",
        "sbm:1000000,blocks=2,p_in=0.5,p_out=0.5",
        "cliques:100000000,clique=1000000",
        "k-out:1000000000000,k=2",
        "harary:1000000000000,k=4",
    ] {
        assert_refused(text, &["more than this program takes"], &["100000000 nodes"]);
    }
}
