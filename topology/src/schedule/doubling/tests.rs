use super::*;

/// Inputs whose sums are exact in `f32`: integers below 2^15 times a power of two, for at most 300 nodes.
fn exact_inputs(nodes: usize) -> Vec<Vec<f32>> {
    let input = |node: usize, column: usize| {
        let scrambled = (node as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (17 + 13 * column);
        ((scrambled & 0x7fff) as f32 - 16384.0) / 8.0
    };
    (0..nodes).map(|node| (0..3).map(|column| input(node, column)).collect()).collect()
}

fn exact_mean(values: &[Vec<f32>], column: usize) -> f32 {
    // The sum is an integer multiple of 1/8 below 2^24, and `f32` division is correctly rounded.
    let eighths: i64 = values.iter().map(|value| (value[column] * 8.0) as i64).sum();
    (eighths as f32 / 8.0) / values.len() as f32
}

#[test]
fn every_node_ends_with_the_exactly_rounded_mean_for_2_to_300_nodes() {
    for nodes in 2..=300 {
        let mut values = exact_inputs(nodes);
        let expected: Vec<f32> = (0..3).map(|column| exact_mean(&values, column)).collect();
        average(&plan(nodes).unwrap(), &mut values);
        for value in &values {
            assert!(
                value.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())),
                "n = {nodes}"
            );
        }
    }
}

#[test]
fn all_nodes_hold_the_same_bits_even_where_sums_are_rounded() {
    for nodes in 2..=300 {
        let mut values: Vec<Vec<f32>> =
            (0..nodes).map(|node| vec![(node as f32 * 0.7).sin() * 1e3, 1.0 / (node as f32 + 0.3)]).collect();
        average(&plan(nodes).unwrap(), &mut values);
        let bits = |value: &Vec<f32>| value.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(values.iter().all(|value| bits(value) == bits(&values[0])), "n = {nodes}");
    }
}

#[test]
fn the_product_of_the_matrices_is_the_mean_for_2_to_70_nodes() {
    for nodes in 2..=70 {
        let plan = plan(nodes).unwrap();
        for source in 0..nodes {
            let mut value = vec![0.0; nodes];
            value[source] = 1.0;
            for step in 0..plan.steps() {
                let mut next = vec![0.0; nodes];
                plan.matrix(step).apply(&value, &mut next);
                value = next;
            }
            assert!(value.iter().all(|x| (x - 1.0 / nodes as f64).abs() < 1e-14), "n = {nodes}, {source}");
        }
    }
}

#[test]
fn partners_are_the_neighbours_along_the_dimensions() {
    let plan = plan(8).unwrap();
    assert_eq!(plan.steps(), 3);
    for step in 0..3 {
        for node in 0..8 {
            assert_eq!(plan.role(step, node), Role::Exchange(node ^ (1 << step)));
        }
    }
}

#[test]
fn six_nodes_fold_two_in_and_out() {
    use Role::{Adopt, Exchange, GiveTo, Idle, ReceiveFrom, SendTo};
    let plan = plan(6).unwrap();
    assert_eq!((plan.steps(), plan.extras()), (4, 2));
    assert_eq!(plan.roles(0), [ReceiveFrom(4), ReceiveFrom(5), Idle, Idle, SendTo(0), SendTo(1)]);
    assert_eq!(plan.roles(1), [Exchange(1), Exchange(0), Exchange(3), Exchange(2), Idle, Idle]);
    assert_eq!(plan.roles(3), [GiveTo(4), GiveTo(5), Idle, Idle, Adopt(0), Adopt(1)]);
    let held = |step| (0..6).map(|node| plan.inputs_held(step, node)).collect::<Vec<_>>();
    assert_eq!(held(1), [2, 2, 1, 1, 1, 1]);
    assert_eq!(held(2), [4, 4, 2, 2, 1, 1]);
    assert_eq!(held(4), [6; 6]);
    // A mean of four inputs against a mean of two.
    assert_eq!((plan.matrix(2).weight(0, 0), plan.matrix(2).weight(0, 2)), (4.0 / 6.0, 2.0 / 6.0));
    assert_eq!(plan.matrix(0).heard_by(4).count(), 0);
    assert_eq!(plan.matrix(3).row(4), (&[0u32][..], &[1.0][..]));
}

#[test]
fn roles_agree_about_who_meets_whom() {
    for nodes in 1..=130 {
        let plan = plan(nodes).unwrap();
        for step in 0..plan.steps() {
            for (node, role) in plan.roles(step).into_iter().enumerate() {
                let mirror = match role {
                    Role::Idle => continue,
                    Role::SendTo(other) => (other, Role::ReceiveFrom(node)),
                    Role::ReceiveFrom(other) => (other, Role::SendTo(node)),
                    Role::Exchange(other) => (other, Role::Exchange(node)),
                    Role::Adopt(other) => (other, Role::GiveTo(node)),
                    Role::GiveTo(other) => (other, Role::Adopt(node)),
                };
                assert_eq!(plan.role(step, mirror.0), mirror.1, "n = {nodes}, step {step}, node {node}");
            }
        }
    }
}

#[test]
fn an_order_that_is_no_permutation_is_refused() {
    let made = Plan::with_order(vec![0, 2, 2]);
    assert!(matches!(made, Err(TopologyError::NotAPermutation { position: 2, node: 2 })));
    assert!(Plan::with_order(vec![0, 3, 1]).is_err());
    assert!(Plan::with_order(Vec::new()).is_err());
}

/// Linear cost: a quadratic one would not end.
#[test]
fn a_step_of_a_million_nodes_is_made() {
    let plan = plan(1_000_007).unwrap();
    let extras = 1_000_007 - (1 << 19);
    assert_eq!((plan.extras(), plan.steps()), (extras, 21));
    assert_eq!(plan.matrix(5).entries(), 2 * (1 << 19) + extras);
    assert_eq!(plan.inputs_held(20, 17), 1_000_007);
}

/// Follows sets of inputs through the steps: the independent count of what each message sums up.
#[test]
fn every_input_is_heard_of_once_among_as_many_as_the_plan_says() {
    for nodes in 1..=40 {
        let order: Vec<u32> = (0..nodes as u32).map(|i| (i * 7 + 3) % nodes as u32).collect();
        let plan = Plan::with_order(order).unwrap_or_else(|_| Plan::new(nodes).unwrap());
        let mut held: Vec<std::collections::BTreeSet<usize>> = (0..nodes).map(|node| [node].into()).collect();
        let mut heard = vec![vec![None; nodes]; nodes];
        for step in 0..plan.steps() {
            let before = held.clone();
            for node in 0..nodes {
                let Some(partner) = plan.role(step, node).hears() else { continue };
                let new: Vec<usize> =
                    before[partner].iter().copied().filter(|&input| input != node).collect();
                for &input in &new {
                    assert!(heard[node][input].is_none(), "{nodes} nodes: {node} hears {input} twice");
                    heard[node][input] = Some(new.len());
                }
                held[node].extend(before[partner].iter());
            }
        }
        for (watcher, row) in heard.iter().enumerate() {
            for (source, &among) in row.iter().enumerate() {
                assert_eq!(plan.heard_among(source, watcher), among, "{nodes} nodes: {source} by {watcher}");
            }
        }
    }
}
