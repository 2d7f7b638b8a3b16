//! Claims about partitions: every record exactly once, least sizes, and the skew that each scheme promises.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a test")]

use learn::data::{Blobs, Dataset, Groups, Targets, digits};
use learn::partition::{Assignment, LabelTable, PartitionError, PartitionSpec};
use proptest::prelude::*;
use topology::Hint;

fn classes(labels: Vec<u32>, classes: usize) -> Dataset {
    let groups = Groups {
        of_record: (0..labels.len() as u32).map(|i| i % 7).collect(),
        names: (0..7).map(|i| format!("id{i}")).collect(),
    };
    let features = vec![0.0; labels.len()];
    Dataset::new(features, 1, Targets::Class { labels, classes }).unwrap().with_groups(groups).unwrap()
}

fn divide(text: &str, data: &Dataset, nodes: usize, seed: u64) -> Result<Assignment, PartitionError> {
    text.parse::<PartitionSpec>().unwrap().divide(data, nodes, seed)
}

fn classes_of(data: &Dataset, assignment: &Assignment, node: usize) -> usize {
    let table = LabelTable::new(data, assignment);
    table.counts[node].iter().filter(|&&count| count > 0).count()
}

const SCHEMES: [&str; 9] = [
    "iid",
    "shards:per_node=1",
    "shards:per_node=3",
    "dirichlet:alpha=0.05",
    "dirichlet:alpha=10",
    "pathological:classes_per_node=1",
    "pathological:classes_per_node=2",
    "quantity-skew:alpha=0.1",
    "natural",
];

proptest! {
    #[test]
    fn every_record_goes_to_exactly_one_node_and_least_sizes_hold(
        labels in prop::collection::vec(0u32..4, 1..150),
        nodes in 1usize..12,
        min_size in 1usize..6,
        scheme in 0..SCHEMES.len(),
        seed: u64,
    ) {
        let data = classes(labels, 4);
        let mut spec: PartitionSpec = SCHEMES[scheme].parse().unwrap();
        spec.min_size = min_size;
        if let Ok(assignment) = spec.divide(&data, nodes, seed) {
            prop_assert_eq!(assignment.nodes(), nodes);
            let mut all: Vec<u32> = (0..nodes).flat_map(|node| assignment.records(node).to_vec()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..data.len() as u32).collect::<Vec<_>>());
            prop_assert!(assignment.sizes().iter().all(|&size| size >= min_size));
            prop_assert_eq!(spec.divide(&data, nodes, seed).unwrap(), assignment);
        }
    }

    #[test]
    fn schemes_that_promise_nothing_about_labels_refuse_only_for_want_of_records(
        records in 1usize..100, nodes in 1usize..20, min_size in 1usize..8, seed: u64,
    ) {
        let data = classes((0..records as u32).map(|i| i % 3).collect(), 3);
        for text in ["iid", "dirichlet:alpha=0.01", "quantity-skew:alpha=0.01"] {
            let mut spec: PartitionSpec = text.parse().unwrap();
            spec.min_size = min_size;
            let divided = spec.divide(&data, nodes, seed);
            prop_assert_eq!(divided.is_ok(), nodes * min_size <= records, "{} {:?}", text, divided);
        }
    }
}

#[test]
fn iid_sizes_differ_by_at_most_one_record() {
    let sizes = divide("iid", &digits(), 10, 1).unwrap().sizes();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&179), Some(&180)));
}

#[test]
fn a_node_with_two_shards_has_few_classes() {
    let data = digits();
    let assignment = divide("shards:per_node=2", &data, 20, 1).unwrap();
    // A shard of 45 records from sorted labels touches at most two classes of at least 174 records.
    for node in 0..20 {
        assert!(classes_of(&data, &assignment, node) <= 4);
    }
    let table = LabelTable::new(&data, &assignment);
    assert!(table.label_skew() > 0.6, "{}", table.label_skew());
}

#[test]
fn a_pathological_node_has_exactly_its_number_of_classes() {
    let data = digits();
    for per_node in [1, 2, 5, 10] {
        let text = format!("pathological:classes_per_node={per_node}");
        let assignment = divide(&text, &data, 15, 3).unwrap();
        for node in 0..15 {
            assert_eq!(classes_of(&data, &assignment, node), per_node, "node {node} of {text}");
        }
    }
}

#[test]
fn smaller_alpha_means_more_label_skew() {
    let data = digits();
    let skew = |alpha: f64| {
        let assignment = divide(&format!("dirichlet:alpha={alpha}"), &data, 10, 1).unwrap();
        LabelTable::new(&data, &assignment).label_skew()
    };
    let skews = [100.0, 1.0, 0.1, 0.01].map(skew);
    assert!(skews.is_sorted(), "{skews:?}");
    assert!(skews[0] < 0.1 && skews[3] > 0.7, "{skews:?}");
}

/// With Dirichlet(α) over n nodes, the share p of one node in one class has E[p²] = (α + 1)/(n (nα + 1)).
/// 500 classes × 10 nodes of 1,000 records each: the mean over 500 classes of Σ p² over nodes has, for α = 0.5, a
/// standard error below 0.01; 0.05 is more than five of them.
#[test]
fn dirichlet_shares_have_the_second_moment_of_the_distribution() {
    let (classes_count, nodes, alpha) = (500u32, 10usize, 0.5f64);
    let labels = (0..classes_count * 1000).map(|i| i % classes_count).collect();
    let data = classes(labels, classes_count as usize);
    let assignment = divide("dirichlet:alpha=0.5", &data, nodes, 4).unwrap();
    let table = LabelTable::new(&data, &assignment);
    let squares: f64 =
        table.counts.iter().flatten().map(|&count| (count as f64 / 1000.0).powi(2)).sum::<f64>();
    let expected = (alpha + 1.0) / (nodes as f64 * alpha + 1.0);
    assert!((squares / f64::from(classes_count) - expected).abs() < 0.05);
}

#[test]
fn quantity_skew_changes_sizes_and_leaves_labels_alike() {
    let data =
        Blobs { nodes: 1, records: 20_000, classes: 4, ..Default::default() }.generate(1).unwrap().train;
    let assignment = divide("quantity-skew:alpha=0.5,min_size=50", &data, 10, 2).unwrap();
    let sizes = assignment.sizes();
    assert!(sizes.iter().max().unwrap() > &(3 * sizes.iter().min().unwrap()), "{sizes:?}");
    assert!(LabelTable::new(&data, &assignment).label_skew() < 0.05);
}

#[test]
fn natural_gives_each_id_its_own_node_or_keeps_ids_together() {
    let data = classes(vec![0; 70], 1);
    let spec: PartitionSpec = "natural".parse().unwrap();
    assert_eq!(spec.own_nodes(&data), Some(7));
    let groups = data.group_of_records().unwrap();
    for nodes in [7, 3] {
        let assignment = spec.divide(&data, nodes, 1).unwrap();
        let mut home = [None; 7];
        for node in 0..nodes {
            for &record in assignment.records(node) {
                let group = groups[record as usize] as usize;
                assert!(home[group].replace(node).is_none_or(|before| before == node));
            }
        }
        // Groups of ten: three nodes have 3, 2 and 2 of them.
        let mut sizes = assignment.sizes();
        sizes.sort_unstable();
        assert_eq!(sizes, if nodes == 7 { vec![10; 7] } else { vec![20, 20, 30] });
    }
}

#[test]
fn what_cannot_be_divided_is_refused_with_the_reason() {
    let few = classes(vec![0, 1, 2], 3);
    let real = Dataset::new(vec![0.0; 4], 1, Targets::Real(vec![1.0, 2.0, 3.0, 4.0])).unwrap();
    let message = |text: &str, data: &Dataset, nodes| {
        let error = divide(text, data, nodes, 1).unwrap_err();
        format!("{error} / {}", error.hint().unwrap_or_default())
    };
    for (given, parts) in [
        (message("iid", &few, 4), ["4 nodes", "3 records"]),
        (message("iid", &few, 0), ["nodes = 0", "at least 1"]),
        (message("iid:min_size=2", &few, 2), ["at least 2", "at most 1"]),
        (message("dirichlet", &real, 2), ["`dirichlet`", "no classes"]),
        (message("pathological", &real, 2), ["`pathological`", "no classes"]),
        (message("natural", &real, 2), ["id column", "id=COLUMN"]),
        (message("natural", &classes(vec![0; 70], 1), 8), ["8 nodes", "7 groups"]),
        // Groups are what counts, also where there are fewer records than nodes.
        (message("natural", &classes(vec![0; 70], 1), 80), ["80 nodes", "7 groups"]),
        (message("pathological:classes_per_node=4", &few, 2), ["classes_per_node = 4", "3 classes"]),
        (message("pathological:classes_per_node=1", &few, 2), ["all 3 classes", "classes_per_node=2"]),
        // One record of class 1 cannot serve the two nodes that hold it.
        (
            message("pathological:classes_per_node=1", &classes(vec![0, 0, 0, 1], 2), 4),
            ["0 records", "fewer"],
        ),
        (message("shards:per_node=2", &few, 2), ["per_node = 2", "4 shards"]),
    ] {
        assert!(parts.iter().all(|part| given.contains(part)), "{given}");
    }
    assert_eq!(divide("shards", &real, 2, 1).unwrap().sizes(), [2, 2]);
}

#[test]
fn records_that_moved_to_honour_the_least_size_are_counted() {
    let data = digits();
    let free = divide("dirichlet:alpha=0.01", &data, 30, 1).unwrap();
    let filled = divide("dirichlet:alpha=0.01,min_size=20", &data, 30, 1).unwrap();
    assert!(filled.moved() > free.moved());
    assert!(filled.sizes().iter().all(|&size| size >= 20));
    assert_eq!(divide("iid:min_size=20", &data, 30, 1).unwrap().moved(), 0);
}

#[test]
fn the_skew_of_a_table_agrees_with_hand_computation() {
    let data = classes(vec![0, 0, 1, 1], 2);
    let apart = divide("pathological:classes_per_node=1", &data, 2, 1).unwrap();
    // Each node has one of two equally frequent classes: half the mass differs.
    let table = LabelTable::new(&data, &apart);
    assert_eq!(table.label_skew(), 0.5);
    let text = table.text();
    assert_eq!(text.lines().next().unwrap(), "node  records  0  1");
    assert!(text.contains(" all        4  2  2\n") && text.contains("label skew 0.500"), "{text}");
}
