//! One line of a list of edges, taken apart.

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Line<'a> {
    /// Nothing, or a comment.
    Blank,
    /// A single word: the number of nodes, if it comes first.
    Single(&'a str),
    /// Two words, and whether what follows them is a weight, attributes or a comment (and not more words).
    Pair(&'a str, &'a str, Tail),
}

/// What follows the two names of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing, numbers (weights, times), `{…}` attributes, or a comment: all ignored.
    Ignored,
    /// Something else.
    Words,
}

/// Splits a line at commas or semicolons if it has any, else at white space.
pub(super) fn split(line: &str) -> Line<'_> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', '%']) {
        return Line::Blank;
    }
    match [',', ';'].into_iter().find(|&separator| line.contains(separator)) {
        Some(separator) => classify(line.split(separator).map(unquoted)),
        None => classify(line.split_whitespace()),
    }
}

fn unquoted(word: &str) -> &str {
    let word = word.trim();
    word.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(word)
}

fn classify<'a>(mut words: impl Iterator<Item = &'a str>) -> Line<'a> {
    let Some(first) = words.next() else {
        return Line::Blank;
    };
    let Some(second) = words.next().filter(|word| !word.starts_with(['#', '%'])) else {
        return Line::Single(first);
    };
    for word in words {
        if word.starts_with(['#', '%', '{']) {
            break;
        }
        if !word.is_empty() && word.parse::<f64>().is_err() {
            return Line::Pair(first, second, Tail::Words);
        }
    }
    Line::Pair(first, second, Tail::Ignored)
}

/// The number that a word is, if it is written as numbers are: `7`, but not `007`, `+7` or `7.0`, which are names.
pub(super) fn number(word: &str) -> Option<u64> {
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    let leading_zero = word.len() > 1 && word.starts_with('0');
    (digits && !leading_zero).then(|| word.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_commas_and_semicolons_separate_names() {
        for line in
            ["a b", "a\tb", "  a   b  ", "a,b", "a, b", "a ; b", "\"a\",\"b\"", "a b 0.5", "a,b,3,4e-1"]
        {
            assert_eq!(split(line), Line::Pair("a", "b", Tail::Ignored), "{line}");
        }
        assert_eq!(split("Jean Valjean,Javert"), Line::Pair("Jean Valjean", "Javert", Tail::Ignored));
    }

    #[test]
    fn attributes_and_trailing_comments_are_ignored_but_words_are_not() {
        assert_eq!(split("0 1 {'weight': 3}"), Line::Pair("0", "1", Tail::Ignored));
        assert_eq!(split("0 1 # friends"), Line::Pair("0", "1", Tail::Ignored));
        assert_eq!(split("not an edge"), Line::Pair("not", "an", Tail::Words));
    }

    #[test]
    fn comments_and_blank_lines_say_nothing() {
        assert!(["", "   ", "# 0 1", "%%MatrixMarket"].iter().all(|line| split(line) == Line::Blank));
        assert_eq!(split("12"), Line::Single("12"));
    }

    #[test]
    fn only_plain_numbers_are_numbers() {
        assert_eq!(
            (number("0"), number("10"), number("18446744073709551615")),
            (Some(0), Some(10), Some(u64::MAX))
        );
        for word in ["", "00", "007", "+1", "-1", "1.0", "18446744073709551616", "x"] {
            assert_eq!(number(word), None, "{word}");
        }
    }
}
