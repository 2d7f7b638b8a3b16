//! The expressions between SELECT and FROM as they were written, which are the keys of their answers.

/// The items of the list, or nothing where they cannot be told apart.
pub(super) fn items(text: &str, expected: usize) -> Vec<String> {
    let trimmed = text.trim_start();
    let Some(rest) = trimmed.get(6..).filter(|_| trimmed[..6].eq_ignore_ascii_case("select")) else {
        return Vec::new();
    };
    let mut items = vec![String::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(String::new());
                continue;
            }
            (None, _) if depth == 0 && is_from(rest, at) => break,
            _ => {}
        }
        items.last_mut().expect("there is always one").push(c);
    }
    let items: Vec<String> = items.iter().map(|item| item.trim().to_owned()).collect();
    // Comments and the like: the parser's own form is used instead.
    let is_plain =
        items.len() == expected && !items.iter().any(|item| item.contains("--") || item.contains("/*"));
    if is_plain { items } else { Vec::new() }
}

/// Whether the word FROM begins here.
fn is_from(text: &str, at: usize) -> bool {
    let word = text.get(at..at + 4).is_some_and(|word| word.eq_ignore_ascii_case("from"));
    let before = text[..at].chars().next_back().is_some_and(|c| c.is_whitespace() || c == ')');
    let after =
        text.get(at + 4..).is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric() && c != '_'));
    word && before && after
}

#[cfg(test)]
mod tests {
    use super::items;

    #[test]
    fn items_are_as_written() {
        let text = " select  Mean( age ),count(*) , quantile(fromage,0.5), crosstab(a, b)\nFROM swarm";
        assert_eq!(items(text, 4), ["Mean( age )", "count(*)", "quantile(fromage,0.5)", "crosstab(a, b)"]);
        assert_eq!(items("SELECT count(*) /* , */ FROM swarm", 1), Vec::<String>::new());
        assert_eq!(items("é", 1), Vec::<String>::new());
    }
}
