//! Sparse mask graphs: a circle in public random order, each member with k/2 neighbours on either side.
//!
//! Members outside the coalition fall apart if and only if at least two of the runs of colluding members between them are k/2 long or longer (a run that is shorter
//! is bridged). The lengths of the h runs are a uniform composition of b, so the probability is exact by inclusion and exclusion:
//! P = Σ_{j≥2} (−1)^j (j−1) C(h,j) C(b−ja+h−1, h−1)/C(b+h−1, h−1), a = k/2. If it does split, the loss of u is that of its component.
//!
//! This holds for coalitions that neither know the order before they choose whom to corrupt nor steer who is in the roster.

use num_bigint::{BigInt, BigUint, Sign};

/// Members up to which the sum is computed exactly; beyond, its first term, which is larger.
const EXACT: u64 = 4096;

/// log₂ of the probability that `bad` members of `nodes` split the others, each having `neighbours` (even); none if it cannot happen. Rounded up
/// for more than 4,096 members.
///
/// # Guarantee
/// At least the probability over the public random order.
///
/// # Assumes
/// The coalition is chosen without knowing the order.
pub fn log2_split(nodes: u64, neighbours: u64, bad: u64) -> Option<f64> {
    let (honest, run) = (nodes.checked_sub(bad)?, neighbours / 2);
    if honest < 2 || run == 0 || 2 * run > bad || neighbours + 1 >= nodes {
        return if honest >= 2 && run == 0 { Some(0.0) } else { None };
    }
    if nodes > EXACT {
        let pairs = (honest as f64).log2() + (honest as f64 - 1.0).log2() - 1.0;
        return Some((pairs + log2_runs(honest, bad, 2 * run)).min(0.0));
    }
    let all = binomial(bad + honest - 1, honest - 1);
    let mut sum = BigInt::ZERO;
    for j in 2..=honest.min(bad / run) {
        let term = binomial(honest, j) * binomial(bad - j * run + honest - 1, honest - 1) * (j - 1);
        sum += BigInt::from_biguint(if j % 2 == 0 { Sign::Plus } else { Sign::Minus }, term);
    }
    let sum = sum.to_biguint().filter(|sum| *sum > BigUint::ZERO)?;
    Some(log2(&sum) - log2(&all))
}

/// log₂ of the probability that one given member outside the coalition has no neighbour outside it; none if it cannot happen.
pub fn log2_alone(nodes: u64, neighbours: u64, bad: u64) -> Option<f64> {
    let honest = nodes.checked_sub(bad)?;
    let run = neighbours / 2;
    (honest >= 2 && 2 * run <= bad).then(|| log2_runs(honest, bad, 2 * run))
}

/// log₂ of C(b − r + h − 1, h − 1)/C(b + h − 1, h − 1): r of the bad in given places.
fn log2_runs(honest: u64, bad: u64, taken: u64) -> f64 {
    (0..taken).map(|i| ((bad - i) as f64 / (bad + honest - 1 - i) as f64).log2()).sum()
}

/// The least even number of neighbours with which a split has probability at most 2^`log2_target`; one less than the members are: the complete graph.
///
/// # Guarantee
/// As [`log2_split`].
///
/// # Assumes
/// As [`log2_split`].
pub fn least_neighbours(nodes: u64, bad: u64, log2_target: f64) -> u64 {
    let fits = |neighbours: &u64| log2_split(nodes, *neighbours, bad).is_none_or(|log2| log2 <= log2_target);
    (1..).map(|half| 2 * half).take_while(|&k| k + 1 < nodes).find(fits).unwrap_or(nodes.saturating_sub(1))
}

/// log₂ of a bound on the probability that a graph in which each member chooses `chosen` others at random splits members outside the coalition: what
/// such graphs need, for comparison.
pub fn log2_k_out_bound(nodes: u64, chosen: u64, bad: u64) -> Option<f64> {
    let honest = nodes.checked_sub(bad)?;
    // log₂ of the probability that all choices of one fall on `among` others.
    let within = |among: u64| {
        (0..chosen).map(|i| (among.saturating_sub(i) as f64 / (nodes - 1 - i) as f64).log2()).sum::<f64>()
    };
    let terms: Vec<f64> = (1..=honest / 2)
        .map(|j| {
            let apart = j as f64 * within(j - 1 + bad) + (honest - j) as f64 * within(honest - j - 1 + bad);
            (apart + log2(&binomial(honest, j))) * std::f64::consts::LN_2
        })
        .collect();
    (!terms.is_empty()).then(|| crate::special::log_sum_exp(&terms) * std::f64::consts::LOG2_E)
}

fn binomial(n: u64, k: u64) -> BigUint {
    (0..k.min(n - k)).fold(BigUint::from(1u32), |product, i| product * (n - i) / (i + 1))
}

/// log₂ of a positive integer of any length.
fn log2(x: &BigUint) -> f64 {
    let shift = x.bits().saturating_sub(64);
    let top = (x >> shift).iter_u64_digits().next().unwrap_or(0);
    (top as f64).log2() + shift as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All choices of bad members of a circle, and how many of them split the rest.
    fn counted(nodes: u32, neighbours: u32, bad: u32) -> f64 {
        let half = neighbours / 2;
        let (mut all, mut split) = (0, 0);
        for set in 0_u32..1 << nodes {
            if set.count_ones() != bad {
                continue;
            }
            all += 1;
            let good: Vec<u32> = (0..nodes).filter(|i| set >> i & 1 == 0).collect();
            let mut reached = vec![good[0]];
            let mut next = 0;
            while next < reached.len() {
                for &other in &good {
                    let apart = (other + nodes - reached[next]) % nodes;
                    if apart.min(nodes - apart) <= half && !reached.contains(&other) {
                        reached.push(other);
                    }
                }
                next += 1;
            }
            split += u32::from(reached.len() < good.len());
        }
        f64::from(split) / f64::from(all)
    }

    #[test]
    fn the_formula_counts_the_splits_of_small_circles() {
        for (nodes, neighbours, bad) in [(8, 2, 3), (10, 4, 5), (12, 4, 6), (12, 2, 4), (11, 6, 7), (9, 4, 3)]
        {
            let expected = counted(nodes, neighbours, bad);
            let found = log2_split(nodes.into(), neighbours.into(), bad.into()).map_or(0.0, f64::exp2);
            assert!((found - expected).abs() < 1e-12, "{nodes} {neighbours} {bad}: {found} {expected}");
        }
    }

    #[test]
    fn large_rosters_are_bounded_from_above_and_closely() {
        let exact = log2_split(4096, 40, 1365).unwrap();
        let bound = log2_split(4097, 40, 1365).unwrap();
        assert!(bound > exact - 0.1 && bound < exact + 0.1, "{exact} {bound}");
    }

    #[test]
    fn few_members_are_all_neighbours_and_nobody_bad_never_splits() {
        assert_eq!(least_neighbours(5, 3, -40.0), 4);
        assert_eq!(log2_split(64, 8, 0), None);
        assert_eq!(log2_split(3, 2, 5), None);
        assert_eq!(least_neighbours(100_000, 33_333, -40.0) % 2, 0);
    }
}
