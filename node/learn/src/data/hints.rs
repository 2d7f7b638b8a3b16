//! What a reader of an error could do about it, guessed from what is there.

use super::error::{Cell, Place, nearest};
use crate::schema::DateFormat;

/// What was probably meant by each name that is not there.
pub(super) fn nearest_columns(wanted: &[String], columns: &[String]) -> Option<String> {
    let near: Vec<String> =
        wanted.iter().filter_map(|name| nearest(name, columns)).map(|name| format!("`{name}`")).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// What a first line may be that names no columns.
pub(super) fn no_names(columns: &[String]) -> Option<String> {
    let is_number = |name: &String| name.parse::<f64>().is_ok();
    match columns {
        [_] => Some("the first line must hold the names of the columns; say `delimiter=…` behind the file where an unusual sign stands between them".into()),
        all if all.iter().all(is_number) => {
            Some("the first line looks like a record: write the names of the columns above it".into())
        }
        _ => None,
    }
}

/// How a text is to be declared that is a date in one of the usual forms.
pub(super) fn a_date(place: &Place, text: &str) -> Option<String> {
    let (column, format) = (&place.column, DateFormat::found(text)?.to_string());
    let key = if format == "iso" { format!("date={column}") } else { format!("date={column}@{format}") };
    Some(format!(
        "`{text}` looks like a date: say `{key}` behind the file (in a schema: `date = \"{format}\"`)"
    ))
}

/// What a column that holds no numbers could be.
pub(super) fn jobs(column: &str, cell: Cell) -> String {
    let label = match cell {
        Cell::Unlabelled => format!(", or, if it is what to predict, say `label={column}`"),
        _ => String::new(),
    };
    format!(
        "declare a column of words with `categorical={column}` (in a schema: `values`), one of dates with `date={column}@%d.%m.%Y` (`date`), leave it out with `drop={column}` (in a schema: do not declare it){label}"
    )
}

/// Digits in groups of three, and perhaps decimals behind another sign.
pub(super) fn has_thousands(text: &str) -> bool {
    [('.', ','), (',', '.'), (' ', ','), ('\'', '.')].into_iter().any(|(group, decimal)| {
        let (whole, part) = text.split_once(decimal).unwrap_or((text, ""));
        let groups: Vec<&str> = whole.trim_start_matches(['-', '+']).split(group).collect();
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        groups.len() > 1
            && (1..=3).contains(&groups[0].len())
            && groups[1..].iter().all(|group| group.len() == 3)
            && groups.iter().all(|group| digits(group))
            && digits(part)
    })
}

pub(super) fn has_decimal_comma(text: &str) -> bool {
    text.matches(',').count() == 1 && !text.contains('.') && text.replace(',', ".").parse::<f64>().is_ok()
}

/// A cell as part of a sentence: on one line, and not a page of it.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let cut = text.chars().nth(MOST).map_or("", |_| "…");
    text.chars().take(MOST).map(plain).collect::<String>() + cut
}

#[cfg(test)]
mod tests {
    use super::super::DataError;
    use super::*;
    use topology::Hint;

    #[test]
    fn groups_of_thousands_are_known_and_other_texts_are_not() {
        for text in ["1.234,5", "1,234.5", "12.345.678", "1 234,5", "-1'000.5"] {
            assert!(has_thousands(text), "{text}");
        }
        for text in ["abc", "1.5.2", "12.3456", "1234.567.8", "2021-02-03", "1,5", "", "x.123"] {
            assert!(!has_thousands(text), "{text}");
        }
    }

    #[test]
    fn dates_are_known_by_their_form_and_cells_are_shown_on_one_line() {
        let place = Place { file: "a.csv".into(), row: 1, column: "seen".into() };
        let hint = |text: &str| {
            DataError::NotANumber { place: place.clone(), text: text.into(), cell: Cell::Feature }
                .hint()
                .unwrap()
        };
        assert!(hint("2024-01-31").contains("say `date=seen` behind"), "{}", hint("2024-01-31"));
        assert!(hint("31.12.2024").contains("`date=seen@%d.%m.%Y`"), "{}", hint("31.12.2024"));
        assert!(hint("12/31/2024").contains("`date=seen@%m/%d/%Y`"), "{}", hint("12/31/2024"));
        assert!(hint("north").contains("categorical=seen"));
        assert_eq!(shown("a\nb, c"), "a b, c");
        assert_eq!(shown(&"x".repeat(61)).chars().count(), 61);
        assert_eq!(shown(&"x".repeat(60)), "x".repeat(60));
    }
}
