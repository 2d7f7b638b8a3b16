//! Who shares streams with whom: everybody with everybody, or, where that would take too many words, neighbours on a circle in public random order.
//!
//! On a circle the others may fall apart ([`neighbours`](privacy::network::masked::neighbours)): there are so many neighbours that any so many colluders split them with
//! probability 2⁻⁴⁰ at most in one roster, which goes into δ for every roster of a run; the price of a round stays 1/h. The order follows from the keys of all
//! members, so nobody knows it before they are told; it says nothing against a coalition that chooses its members by it, or chooses who is in the roster.

use privacy::network::masked::neighbours::{least_neighbours, log2_split};
use topology::schedule::{RunKey, shuffled_order};

/// Words that one member draws for a round up to which everybody shares streams with everybody: a fraction of a second.
const MOST_WORDS: usize = 100_000_000;

/// log₂ of the probability with which colluders may split the others of one roster.
const LOG2_SPLIT: f64 = -40.0;

/// Whose streams a member adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::algorithm::rounds) enum MaskGraph {
    /// Everybody's.
    Complete,
    /// Those of half of so many on either side.
    Circle { neighbours: u32 },
}

impl MaskGraph {
    /// For a roster whose contributions have so many words.
    ///
    /// # Guarantee
    /// Any `colluders` members, chosen without knowing the order, leave the others in one piece but for a chance of 2⁻⁴⁰.
    ///
    /// # Assumes
    /// The order is uniform and independent of who colludes.
    pub(in crate::algorithm::rounds) fn of(members: usize, words: usize, colluders: usize) -> Self {
        if members.saturating_sub(1).saturating_mul(words) <= MOST_WORDS {
            return Self::Complete;
        }
        match u32::try_from(least_neighbours(members as u64, colluders as u64, LOG2_SPLIT)) {
            Ok(neighbours) if (neighbours as usize) + 1 < members => Self::Circle { neighbours },
            Ok(_) | Err(_) => Self::Complete,
        }
    }

    /// The members with whom one shares streams, by positions in a roster of so many that has this digest; in increasing order.
    pub(super) fn others(self, (digest, members): (&[u8; 32], usize), me: usize) -> Vec<usize> {
        let mut others: Vec<usize> = match self {
            Self::Complete => (0..members).filter(|&other| other != me).collect(),
            Self::Circle { neighbours } => {
                let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                let circle =
                    shuffled_order(&RunKey::new(&format!("murmur mask circle 1 {name}")), 0, members);
                let Some(at) = circle.iter().position(|&member| member as usize == me) else {
                    return Vec::new();
                };
                let half = (neighbours / 2) as usize;
                let either_side = (1..=half).flat_map(|away| [at + away, at + members - away]);
                either_side.map(|place| circle[place % members] as usize).collect()
            }
        };
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// What may be added to δ where so many rosters had a circle.
pub(in crate::algorithm::rounds) fn split_chance(rosters: u64) -> f64 {
    rosters as f64 * libm::exp2(LOG2_SPLIT)
}

/// Whether any so many watchers leave the others in one piece, but for the chance that is in δ. Zero neighbours are all.
pub(super) fn holds_against(neighbours: u32, among: usize, watchers: usize) -> bool {
    neighbours == 0
        || log2_split(among as u64, neighbours.into(), watchers as u64)
            .is_none_or(|chance| chance <= LOG2_SPLIT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use topology::Graph;

    use super::*;

    /// Numbers of the specification: a third bad, 2⁻⁴⁰.
    #[test]
    fn small_rosters_share_with_all_and_large_ones_with_as_many_as_the_specification_says() {
        assert_eq!(MaskGraph::of(64, 1_000_000, 21), MaskGraph::Complete);
        assert_eq!(MaskGraph::of(2, usize::MAX, 0), MaskGraph::Complete);
        for (members, neighbours) in [(64, 22), (256, 32)] {
            let found = MaskGraph::of(members, 10_000_000, (members - 1) / 3);
            assert_eq!(found, MaskGraph::Circle { neighbours }, "{members}");
            assert!(holds_against(neighbours, members, (members - 1) / 3));
            assert!(!holds_against(neighbours, members, members / 2));
            assert!(holds_against(0, members, members / 2), "all pairs share streams");
        }
    }

    #[test]
    fn neighbours_are_mutual_and_as_many_as_asked_for() {
        let graph = MaskGraph::Circle { neighbours: 6 };
        let others: Vec<Vec<usize>> = (0..40).map(|me| graph.others((&[7; 32], 40), me)).collect();
        for (me, mine) in others.iter().enumerate() {
            assert_eq!(mine.len(), 6);
            assert!(mine.iter().all(|&other| other != me && others[other].contains(&me)));
        }
        let elsewhere = graph.others((&[8; 32], 40), 0);
        assert_ne!(others[0], elsewhere, "another roster has another order");
        assert_eq!(MaskGraph::Complete.others((&[7; 32], 4), 2), [0, 1, 3]);
    }

    /// By theory (Theorem 1) a contribution costs 1/|K(u)|; a third that is chosen blindly leaves one piece. 200 rosters of 64 with 22 neighbours split with
    /// probability below 2·10⁻¹⁰.
    #[test]
    fn a_third_that_is_chosen_blindly_leaves_one_piece() {
        let graph = MaskGraph::Circle { neighbours: 22 };
        for roster in 0..200_u8 {
            let edges: BTreeSet<(u32, u32)> = (0..64)
                .flat_map(|me| {
                    graph.others((&[roster; 32], 64), me).into_iter().map(move |other| (me, other))
                })
                .filter(|(me, other)| me < other)
                .map(|(me, other)| (me as u32, other as u32))
                .collect();
            let edges: Vec<(u32, u32)> = edges.into_iter().collect();
            let graph = Graph::from_edges(64, &edges).unwrap().0;
            let bad: Vec<usize> = (0..21).collect();
            let losses = privacy::network::masked::loss(&graph, &bad, &[1.0; 64]).unwrap();
            assert!(losses[21..].iter().all(|loss| (loss * 43.0 - 1.0).abs() < 1e-12), "roster {roster}");
        }
    }
}
