//! The family that was probably meant: a synonym, or the nearest name.

use super::catalogue::CATALOGUE;
use crate::suggest::nearest;

/// Names that people know a thing under, where no count of typing errors would lead to ours.
const SYNONYMS: [(&str, &str); 21] = [
    ("cycle", "ring"),
    ("circle", "ring"),
    ("line", "path"),
    ("chain", "path"),
    ("clique", "complete"),
    ("full", "complete"),
    ("fully-connected", "complete"),
    ("mesh", "grid"),
    ("lattice", "grid"),
    ("cube", "hypercube"),
    ("binary-tree", "tree"),
    ("expander", "regular"),
    ("random-regular", "regular"),
    ("er", "erdos-renyi"),
    ("gnp", "erdos-renyi"),
    ("ws", "watts-strogatz"),
    ("small-world", "watts-strogatz"),
    ("ba", "barabasi-albert"),
    ("rgg", "geometric"),
    ("block-model", "sbm"),
    ("ring-of-cliques", "cliques"),
];

/// The family that `name` probably stands for.
pub(super) fn nearest_family(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == lower).map(|(_, ours)| *ours);
    synonym.or_else(|| nearest(&lower, &CATALOGUE.map(|entry| entry.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_mistakes_synonyms_and_beginnings_are_understood() {
        for (written, meant) in [
            ("rign", "ring"),
            ("Regualr", "regular"),
            ("erdos", "erdos-renyi"),
            ("hypercubes", "hypercube"),
            ("er", "erdos-renyi"),
            ("cycle", "ring"),
            ("tours", "torus"),
        ] {
            assert_eq!(nearest_family(written), Some(meant), "{written}");
        }
        assert_eq!(nearest_family("banana"), None);
    }
}
