//! What sums of masked values tell: on any mask graph, with unequal noise, and where something was done twice.

use faer::Mat;
use topology::Graph;

use super::super::basis::Basis;
use super::super::error::{NetworkError, not_negative};

/// A direction of sums that masks leave open is taken to be seen if less than this of it is missing.
const SEEN: f64 = 1e-9;

/// Loss μ² of every node for Δ = 1, given every masked value of everybody, where node u adds noise of variance `variances[u]`.
///
/// # Guarantee
/// What the coalition holds is μ-Gaussian-DP with respect to the contribution of u: 1/Σσ_w² over the component of u among the others; infinite if there is
/// no noise in it; 0 for members of the coalition, who have nothing to hide from themselves.
///
/// # Assumes
/// Theorem 1 of the [module](super): streams between members outside the coalition are unknown to it and used once. Real-valued noise; integer noise gives up
/// 9 of the sum (`loss` = 1/(Σσ² − 9), see [`leverage`](super::leverage)).
///
/// # Errors
/// A coalition of nodes that are not there, or variances that are not one finite number per node.
pub fn loss(graph: &Graph, coalition: &[usize], variances: &[f64]) -> Result<Vec<f64>, NetworkError> {
    let nodes = graph.nodes();
    if variances.len() != nodes {
        return Err(NetworkError::SizeDiffers { phase: 0, step: 0, found: variances.len(), nodes });
    }
    variances.iter().try_for_each(|&variance| not_negative("a variance", variance).map(drop))?;
    let component = components(graph, coalition)?;
    let mut noise = vec![0.0; nodes];
    for (node, component) in component.iter().enumerate() {
        component.iter().for_each(|&at| noise[at] += variances[node]);
    }
    // One rounding for each addition and one for the quotient.
    let up = 1.0 + (nodes + 1) as f64 * f64::EPSILON;
    Ok(component.iter().map(|component| component.map_or(0.0, |at| up / noise[at])).collect())
}

/// Loss of every node, in parts of a full charge, where only some sums of masked values were seen; equal noise.
///
/// A combination of the sums says something only if all masks cancel in it, so if it is constant on every component.
///
/// # Guarantee
/// As [`loss`]; exact up to rounding. Seeing more never costs less, and never more than [`loss`].
///
/// # Assumes
/// As [`loss`].
///
/// # Errors
/// Nodes that are not there.
pub fn sums(graph: &Graph, coalition: &[usize], seen: &[Vec<usize>]) -> Result<Vec<f64>, NetworkError> {
    let nodes = graph.nodes();
    let component = components(graph, coalition)?;
    let view = view(nodes, coalition, seen)?;
    let mut rests = Vec::new();
    let mut whole = Vec::new();
    let count = component.iter().flatten().max().map_or(0, |most| most + 1);
    for at in 0..count {
        let size = component.iter().filter(|&&of| of == Some(at)).count() as f64;
        let unit: Vec<f64> =
            component.iter().map(|&of| if of == Some(at) { size.sqrt().recip() } else { 0.0 }).collect();
        rests.push(without(&view, &unit));
        whole.push(unit);
    }
    let open = Mat::from_fn(nodes, count, |node, at| rests[at][node]);
    let parts = open
        .thin_svd()
        .map_err(|_| NetworkError::Unreachable { why: "the singular values did not converge".into() })?;
    let mut told = Basis::of_units(vec![false; nodes]);
    for (at, &size) in parts.S().column_vector().iter().enumerate() {
        if size < SEEN {
            let weight = parts.V().col(at);
            told.extend(
                (0..nodes).map(|node| (0..count).map(|k| weight[k] * whole[k][node]).sum()).collect(),
            );
        }
    }
    Ok(outside(told.leverage(), coalition))
}

/// Loss of every node, in parts of a full charge, where the **same** noise is in several totals: what must never happen.
///
/// Two totals over rosters that differ by one node give that node's noisy contribution away.
///
/// # Guarantee
/// Exact up to rounding, for equal noise.
///
/// # Assumes
/// Masks that cancel in each total.
///
/// # Errors
/// Nodes that are not there.
pub fn same_noise(
    nodes: usize,
    coalition: &[usize],
    totals: &[Vec<usize>],
) -> Result<Vec<f64>, NetworkError> {
    Ok(outside(view(nodes, coalition, totals)?.leverage(), coalition))
}

/// The span of sums over sets of nodes, for who knows the coalition's own parts.
fn view(nodes: usize, coalition: &[usize], sets: &[Vec<usize>]) -> Result<Basis, NetworkError> {
    let mut known = vec![false; nodes];
    for &member in coalition {
        *known.get_mut(member).ok_or(NetworkError::WatcherOutside { watcher: member, nodes })? = true;
    }
    let mut view = Basis::of_units(known);
    for set in sets {
        let mut row = vec![0.0; nodes];
        for &node in set {
            *row.get_mut(node).ok_or(NetworkError::WatcherOutside { watcher: node, nodes })? = 1.0;
        }
        view.extend(row);
    }
    Ok(view)
}

/// What of a vector lies outside the span.
fn without(basis: &Basis, vector: &[f64]) -> Vec<f64> {
    let mut rest = vector.to_vec();
    for direction in basis.dense().chunks_exact(vector.len().max(1)) {
        let along: f64 = direction.iter().zip(vector).map(|(a, b)| a * b).sum();
        rest.iter_mut().zip(direction).for_each(|(rest, x)| *rest -= along * x);
    }
    rest
}

fn outside(mut losses: Vec<f64>, coalition: &[usize]) -> Vec<f64> {
    coalition.iter().for_each(|&member| losses[member] = 0.0);
    losses
}

/// The component of every node among those outside the coalition, numbered from 0; none for the coalition itself.
fn components(graph: &Graph, coalition: &[usize]) -> Result<Vec<Option<usize>>, NetworkError> {
    let nodes = graph.nodes();
    let mut inside = vec![false; nodes];
    for &member in coalition {
        *inside.get_mut(member).ok_or(NetworkError::WatcherOutside { watcher: member, nodes })? = true;
    }
    let mut component = vec![None; nodes];
    let mut count = 0;
    for start in 0..nodes {
        if inside[start] || component[start].is_some() {
            continue;
        }
        let mut waiting = vec![start];
        component[start] = Some(count);
        while let Some(node) = waiting.pop() {
            for next in graph.neighbours(node).iter().map(|&next| next as usize) {
                if !inside[next] && component[next].is_none() {
                    component[next] = Some(count);
                    waiting.push(next);
                }
            }
        }
        count += 1;
    }
    Ok(component)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{graph, path, ring};
    use super::*;

    #[test]
    fn a_component_without_noise_hides_nobody() {
        let losses = loss(&path(4), &[1], &[0.0, 1.0, 2.0, 2.0]).unwrap();
        assert_eq!(losses[0], f64::INFINITY);
        assert_eq!(losses[1], 0.0);
        assert!((losses[2] - 0.25).abs() < 1e-14 && losses[2] >= 0.25);
    }

    #[test]
    fn a_node_that_loses_all_neighbours_to_the_coalition_stands_alone() {
        let losses = loss(&ring(6), &[1, 3], &[1.0; 6]).unwrap();
        assert!((losses[2] - 1.0).abs() < 1e-14);
        assert!((losses[5] - 1.0 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        assert!(loss(&path(3), &[3], &[1.0; 3]).is_err());
        assert!(loss(&path(3), &[], &[1.0; 2]).is_err());
        assert!(loss(&path(3), &[], &[1.0, f64::NAN, 1.0]).is_err());
        assert!(sums(&path(3), &[], &[vec![3]]).is_err());
        assert!(same_noise(3, &[5], &[]).is_err());
    }

    #[test]
    fn sums_say_nothing_until_masks_cancel_and_then_no_more_than_all_values() {
        let complete = graph(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(sums(&complete, &[], &[vec![0], vec![1, 2]]).unwrap(), [0.0; 4]);
        let all = sums(&complete, &[], &[vec![0], vec![1, 2], vec![3]]).unwrap();
        let given = loss(&complete, &[], &[1.0; 4]).unwrap();
        all.iter().zip(given).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    }
}
