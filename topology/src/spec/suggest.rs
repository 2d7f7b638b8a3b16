//! The nearest known name to one that is not known.

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

/// The name among `known` that is most likely meant: a synonym, one that begins alike, or the one that the fewest
/// typing errors lead to, if these are few for its length.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    if let Some(&found) = known.iter().find(|&&k| Some(k) == synonym) {
        return Some(found);
    }
    let distance = |k: &str| typing_errors(&name, k);
    let best = known.iter().copied().min_by_key(|k| distance(k))?;
    if distance(best) <= (name.chars().count().max(best.len()) / 3).max(1) {
        return Some(best);
    }
    known.iter().copied().find(|k| name.len() >= 2 && k.starts_with(&name))
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
fn typing_errors(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        rows[i][0] = i;
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["ring", "grid", "regular", "erdos-renyi", "hypercube", "torus"];

    #[test]
    fn typing_errors_count_swaps_once() {
        assert_eq!(typing_errors("ring", "rnig"), 1);
        assert_eq!(typing_errors("kitten", "sitting"), 3);
        assert_eq!(typing_errors("", "ab"), 2);
    }

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
            assert_eq!(nearest(written, NAMES), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_is_far_from_every_name_gets_no_suggestion() {
        assert_eq!(nearest("banana", NAMES), None);
        assert_eq!(nearest("x", []), None);
    }
}
