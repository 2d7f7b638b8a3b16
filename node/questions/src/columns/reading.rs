//! From what stands in a cell to what a question may use. Nothing here fails: what cannot be read is missing.

use super::{Column, Columns, Kind, dates};

/// One value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Empty, unreadable, not finite.
    Missing,
    /// A finite number, not yet clamped.
    Number(f64),
    /// A declared category, by its position.
    Category(usize),
    /// A category that nobody declared.
    Other,
    /// Bytes of an open set.
    Text(Vec<u8>),
}

/// The cells of a record, in the order of the declared columns.
pub type Row = Vec<Cell>;

impl Columns {
    /// A record from the text of its cells; `text` gives the cell of a column, or nothing where the file has none.
    #[must_use]
    pub fn read<'a>(&self, text: impl Fn(&str) -> Option<&'a [u8]>) -> Row {
        self.all().iter().map(|column| column.read(text(&column.name).unwrap_or(b""))).collect()
    }
}

impl Column {
    /// The value of a cell.
    #[must_use]
    pub fn read(&self, text: &[u8]) -> Cell {
        match self.read_unfilled(text) {
            Cell::Missing => {
                self.fill.as_ref().map_or(Cell::Missing, |fill| self.read_unfilled(fill.as_bytes()))
            }
            cell => cell,
        }
    }

    fn read_unfilled(&self, text: &[u8]) -> Cell {
        let text = text.trim_ascii();
        if is_missing(text) {
            return Cell::Missing;
        }
        match &self.kind {
            Kind::Number { date, integer, .. } => number(text, date.as_deref(), *integer),
            Kind::Category { values } => category(text, values),
            Kind::Text { bytes } => Cell::Text(text[..text.len().min(*bytes)].to_vec()),
        }
    }
}

/// Whether `fill` can stand in for a missing value of the column.
pub(super) fn can_fill(column: &Column, fill: &str) -> bool {
    !matches!(column.read_unfilled(fill.as_bytes()), Cell::Missing | Cell::Other)
}

fn number(text: &[u8], date: Option<&str>, integer: bool) -> Cell {
    let Ok(text) = std::str::from_utf8(text) else { return Cell::Missing };
    let value = match date {
        Some(format) => dates::days(text, format),
        None => text.parse::<f64>().ok(),
    };
    match value {
        // −0 would be another number than 0 to those who compare bytes.
        Some(value) if value.is_finite() => Cell::Number(if integer { value.round() } else { value } + 0.0),
        _ => Cell::Missing,
    }
}

/// As it is written, or as a number: `1` is `1.0`.
fn category(text: &[u8], values: &[String]) -> Cell {
    if let Some(at) = values.iter().position(|value| value.as_bytes() == text) {
        return Cell::Category(at);
    }
    let as_number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    let position = as_number(text)
        .and_then(|number| values.iter().position(|value| as_number(value.as_bytes()) == Some(number)));
    position.map_or(Cell::Other, Cell::Category)
}

/// The words that stand for nothing, as the readers of training data have them.
fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || cell == b"?"
        || [&b"na"[..], b"n/a", b"nan", b"null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(declaration: &str, text: &[u8]) -> Cell {
        declaration.parse::<Column>().unwrap().read(text)
    }

    #[test]
    fn cells_are_what_they_say_or_missing() {
        assert_eq!(read("x:bounds=0..9", b" 3.5 "), Cell::Number(3.5));
        for unreadable in [&b"abc"[..], b"", b"?", b"NaN", b"inf", b"1e999", b"\xff\xfe", b"1,5"] {
            assert_eq!(read("x:bounds=0..9", unreadable), Cell::Missing, "{unreadable:?}");
        }
        assert_eq!(read("x:bounds=0..9", b"1e300"), Cell::Number(1e300));
        assert_eq!(read("x:bounds=0..9,fill=4", b""), Cell::Number(4.0));
        assert_eq!(read("x:bounds=0..9,integer", b"2.4"), Cell::Number(2.0));
        assert_eq!(read("s:values=0+1", b"1.0"), Cell::Category(1));
        assert_eq!(read("s:values=0+1", b"2"), Cell::Other);
        assert_eq!(read("s:values=0+1", b""), Cell::Missing);
        assert_eq!(read("c:text=3", b"abcdef"), Cell::Text(b"abc".to_vec()));
    }
}
