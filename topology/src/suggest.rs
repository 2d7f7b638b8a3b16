//! The nearest of a list of names, for messages about typing errors.

/// One sentence: the nearest name where one is near, and the names that exist.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    let list = known.join(", ");
    nearest(name, known).map_or_else(
        || format!("known are {list}"),
        |near| format!("did you mean `{near}`? Known are {list}"),
    )
}

/// The name in `known` that the fewest edits turn `name` into, where those are at most a third of its letters (at least two, of a name of three letters one),
/// or that begins with `name`. Large and small letters are the same.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let letters = lower.chars().count();
    // Two letters that changed places count as two edits.
    let most = if letters < 4 { 1 } else { (letters / 3).max(2) };
    let near = known
        .iter()
        .map(|&candidate| (edits(&lower, &candidate.to_lowercase()), candidate))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, _)| distance <= most)
        .map(|(_, candidate)| candidate);
    let starts = || known.iter().copied().find(|known| lower.len() >= 3 && known.starts_with(&lower));
    near.or_else(starts)
}

/// Levenshtein distance: insertions, deletions and substitutions, each at cost one.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &other) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_textbook_one() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "ring"), 4);
        assert_eq!(edits("ring", "ring"), 0);
    }

    #[test]
    fn a_typing_error_finds_its_name_and_nonsense_finds_none() {
        let known = ["metropolis", "max-degree", "uniform"];
        assert_eq!(nearest("Metropolys", &known), Some("metropolis"));
        assert_eq!(nearest("uni", &known), Some("uniform"));
        assert_eq!(nearest("over50k", &["age", "Over50K"]), Some("Over50K"));
        assert_eq!(nearest("ab", &["xy"]), None);
        assert_eq!(nearest("banana", &known), None);
    }
}
