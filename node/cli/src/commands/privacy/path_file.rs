//! A walk's visits from a file: a node per line, or comma-separated; `#` begins a comment.

use crate::failure::{Failure, Result};
use std::path::Path;

/// The nodes visited, in order.
pub(super) fn read(path: &Path) -> Result<Vec<usize>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::from(error).context(format!("cannot read `{shown}`")))?;
    let visits = parse(&text).map_err(|(line, word)| {
        Failure::new(format!("`{shown}`, line {line}: `{word}` is not a node number"))
            .hint("a path lists the nodes that the token visits, one per line or comma-separated")
    })?;
    if visits.is_empty() {
        return Err(Failure::new(format!("`{shown}` has no visits")));
    }
    Ok(visits)
}

fn parse(text: &str) -> std::result::Result<Vec<usize>, (usize, String)> {
    let mut visits = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        for word in content.split([',', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty()) {
            visits.push(word.parse().map_err(|_| (number + 1, word.to_owned()))?);
        }
    }
    Ok(visits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_come_one_per_line_or_comma_separated() {
        assert_eq!(parse("# a walk\n3\n1, 2\n\n0,\n").unwrap(), [3, 1, 2, 0]);
        assert_eq!(parse("3\n1,x\n"), Err((2, "x".into())));
        assert_eq!(parse("-1"), Err((1, "-1".into())));
    }
}
