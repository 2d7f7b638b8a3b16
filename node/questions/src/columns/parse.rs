//! A declaration on the command line: `age:bounds=0..110,integer`, `region:values=north+south`, `code:text=8`.

use std::str::FromStr;

use super::{Bounds, Column, Kind, check, dates};
use crate::refusal::Refusal;

/// What the keys said so far.
#[derive(Default)]
struct Keys {
    bounds: Option<String>,
    integer: bool,
    values: Option<Vec<String>>,
    date: Option<String>,
    text: Option<usize>,
    fill: Option<String>,
}

impl FromStr for Column {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let bad = |why: String| Refusal::Declaration { column: name.to_owned(), why };
        let mut keys = Keys::default();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            keys.take(part).map_err(bad)?;
        }
        let (kind, fill) = keys.kind(name)?;
        let column = Self { name: name.to_owned(), kind, fill };
        check(&column)?;
        Ok(column)
    }
}

impl Keys {
    fn take(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part.split_once('=').unwrap_or((part, "true"));
        match key {
            "bounds" => self.bounds = Some(value.to_owned()),
            "integer" => match value {
                "true" => self.integer = true,
                "false" => self.integer = false,
                _ => return Err(format!("`integer` is true or false: `{value}`")),
            },
            "values" => self.values = Some(value.split('+').map(str::to_owned).collect()),
            "date" if value == "true" => self.date = Some("%Y-%m-%d".into()),
            "date" => self.date = Some(value.to_owned()),
            "text" => {
                self.text =
                    Some(value.parse().map_err(|_| format!("`text` is a number of bytes: `{value}`"))?);
            }
            "fill" => self.fill = Some(value.to_owned()),
            _ => return Err(format!("there is no key `{key}`")),
        }
        Ok(())
    }

    fn kind(self, name: &str) -> Result<(Kind, Option<String>), Refusal> {
        let bad = |why: &str| Refusal::Declaration { column: name.to_owned(), why: why.to_owned() };
        let is_number = self.bounds.is_some() || self.integer || self.date.is_some();
        let kind = match (is_number, self.values, self.text) {
            (true, None, None) | (false, None, None) => {
                let date = self.date.as_deref();
                let bounds = self.bounds.map(|text| bounds(name, &text, date)).transpose()?;
                Kind::Number { bounds, integer: self.integer, date: self.date }
            }
            (false, Some(values), None) => Kind::Category { values },
            (false, None, Some(bytes)) => Kind::Text { bytes },
            _ => return Err(bad("a column has bounds, values or text, not several of them")),
        };
        Ok((kind, self.fill))
    }
}

fn bounds(name: &str, text: &str, date: Option<&str>) -> Result<Bounds, Refusal> {
    let bad = || Refusal::Declaration {
        column: name.to_owned(),
        why: format!("bounds are two numbers with `..` between them: `{text}`"),
    };
    let (low, high) = text.split_once("..").ok_or_else(bad)?;
    let read = |part: &str| match date {
        Some(format) => dates::days(part.trim(), format),
        None => part.trim().parse::<f64>().ok(),
    };
    Bounds::new(name, read(low).ok_or_else(bad)?, read(high).ok_or_else(bad)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_understood() {
        let column: Column = "age:bounds=0..110,integer,fill=50".parse().unwrap();
        let bounds = Some(Bounds { low: 0.0, high: 110.0 });
        assert_eq!(column.kind, Kind::Number { bounds, integer: true, date: None });
        assert_eq!(column.fill.as_deref(), Some("50"));
        let column: Column = "t:bounds=-40..-1e-3".parse().unwrap();
        assert!(matches!(
            column.kind,
            Kind::Number { bounds: Some(Bounds { low: -40.0, high: -0.001 }), .. }
        ));
        let column: Column = "region:values=north+south".parse().unwrap();
        assert_eq!(column.kind, Kind::Category { values: vec!["north".into(), "south".into()] });
        let column: Column = "code:text=8".parse().unwrap();
        assert_eq!(column.kind, Kind::Text { bytes: 8 });
        let column: Column = "day:date=%d.%m.%Y,bounds=1970-01-02..1970-01-12".parse().unwrap();
        assert!(matches!(column.kind, Kind::Number { bounds: Some(Bounds { low: 1.0, high: 11.0 }), .. }));
    }

    #[test]
    fn contradictions_are_refused_by_name() {
        for text in [
            "age:bounds=5..5",
            "age:bounds=5..1",
            "age:bounds=0..inf",
            "age:bounds=NaN..1",
            "age:bounds=0-1",
            "age:bounds=0..1,values=a",
            "age:size=3",
            "c:text=0",
            "c:text=65",
            "c:text=x",
            "r:values=a+a",
            "age:integer=perhaps",
            "age:bounds=0..9,fill=x",
            "r:values=a+b,fill=c",
            ":bounds=0..1",
        ] {
            let refusal = text.parse::<Column>().unwrap_err();
            assert!(
                matches!(refusal, Refusal::Declaration { .. } | Refusal::Bounds { .. }),
                "{text}: {refusal}"
            );
            assert!(topology::Hint::hint(&refusal).is_some());
        }
    }
}
