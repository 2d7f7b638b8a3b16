//! A cell of a Parquet column as text.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use ::parquet::data_type::{ByteArray, Int96};
use ::parquet::schema::types::ColumnDescriptor;

use crate::schema::day_number;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// What the values of a column stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shown {
    /// Themselves.
    Plain,
    /// Whole numbers that are never negative.
    Unsigned,
    /// Days since 1970-01-01.
    Day,
    /// So many ticks a second since 1970-01-01.
    Moment(i64),
    /// A whole number with so many digits behind the point.
    Decimal(i32),
}

/// What a column stands for, where text can say it.
pub(super) fn shown(column: &ColumnDescriptor) -> Option<Shown> {
    let by_unit = match column.logical_type_ref() {
        Some(LogicalType::Timestamp(about)) => Some(match about.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        Some(LogicalType::Time(_) | LogicalType::Uuid | LogicalType::Float16 | LogicalType::Bson) => {
            return None;
        }
        _ => None,
    };
    let decimal = Shown::Decimal(column.type_scale());
    match (column.physical_type(), column.converted_type()) {
        (Type::INT64, _) if by_unit.is_some() => by_unit.map(Shown::Moment),
        (Type::BOOLEAN | Type::FLOAT | Type::DOUBLE, _) => Some(Shown::Plain),
        (Type::INT96, _) => Some(Shown::Moment(1_000)),
        (Type::INT32, ConvertedType::DATE) => Some(Shown::Day),
        (Type::INT64, ConvertedType::TIMESTAMP_MILLIS) => Some(Shown::Moment(1_000)),
        (Type::INT64, ConvertedType::TIMESTAMP_MICROS) => Some(Shown::Moment(1_000_000)),
        (Type::INT32 | Type::INT64, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => None,
        (_, ConvertedType::DECIMAL) => Some(decimal),
        (
            Type::INT32 | Type::INT64,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => Some(Shown::Unsigned),
        (Type::INT32 | Type::INT64 | Type::BYTE_ARRAY, _) => Some(Shown::Plain),
        (Type::FIXED_LEN_BYTE_ARRAY, _) => None,
    }
}

/// A value that can be written; `None` where it is none, such as a day that no calendar has.
pub(super) trait Cell {
    /// As text.
    fn text(&self, shown: Shown) -> Option<String>;
}

impl Cell for bool {
    fn text(&self, _: Shown) -> Option<String> {
        Some(u8::from(*self).to_string())
    }
}

impl Cell for i32 {
    fn text(&self, shown: Shown) -> Option<String> {
        match shown {
            Shown::Unsigned => Some(self.cast_unsigned().to_string()),
            Shown::Day => day_number(f64::from(*self)),
            _ => i64::from(*self).text(shown),
        }
    }
}

impl Cell for i64 {
    fn text(&self, shown: Shown) -> Option<String> {
        match shown {
            Shown::Plain => Some(self.to_string()),
            Shown::Unsigned => Some(self.cast_unsigned().to_string()),
            Shown::Day => None,
            Shown::Moment(ticks) => moment(self.div_euclid(ticks)),
            Shown::Decimal(scale) => Some(decimal(i128::from(*self), scale)),
        }
    }
}

impl Cell for Int96 {
    fn text(&self, shown: Shown) -> Option<String> {
        self.to_millis().text(shown)
    }
}

impl Cell for f32 {
    fn text(&self, _: Shown) -> Option<String> {
        Some(self.to_string())
    }
}

impl Cell for f64 {
    fn text(&self, _: Shown) -> Option<String> {
        Some(self.to_string())
    }
}

impl Cell for ByteArray {
    fn text(&self, shown: Shown) -> Option<String> {
        let bytes = self.data();
        let Shown::Decimal(scale) = shown else { return String::from_utf8(bytes.to_vec()).ok() };
        // Big-endian, in two's complement.
        let negative = bytes.first().is_some_and(|&first| first >= 0x80);
        let mut whole = [if negative { 0xff } else { 0 }; 16];
        whole.get_mut(16usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
        Some(decimal(i128::from_be_bytes(whole), scale))
    }
}

fn moment(seconds: i64) -> Option<String> {
    let (day, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let day = day_number(day as f64)?;
    Some(format!("{day}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60))
}

fn decimal(value: i128, scale: i32) -> String {
    let (sign, digits) = (if value < 0 { "-" } else { "" }, value.unsigned_abs().to_string());
    match usize::try_from(scale) {
        Ok(scale) if scale > 0 && scale <= 38 => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, part) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{part}")
        }
        _ => format!("{sign}{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_moments_are_written_as_people_write_them() {
        assert_eq!(decimal(12_345, 2), "123.45");
        assert_eq!(decimal(-5, 3), "-0.005");
        assert_eq!(decimal(7, 0), "7");
        assert_eq!(ByteArray::from(vec![0xff, 0x85]).text(Shown::Decimal(1)).unwrap(), "-12.3");
        assert_eq!(ByteArray::from(vec![1; 17]).text(Shown::Decimal(1)), None);
        // 2001-09-09T01:46:40Z is a billion seconds; a moment before 1970 is rounded down.
        assert_eq!(1_000_000_000_999_i64.text(Shown::Moment(1_000)).unwrap(), "2001-09-09T01:46:40");
        assert_eq!((-1_i64).text(Shown::Moment(1_000)).unwrap(), "1969-12-31T23:59:59");
        assert_eq!((-1_i32).text(Shown::Unsigned).unwrap(), "4294967295");
        assert_eq!(0_i32.text(Shown::Day).unwrap(), "1970-01-01");
        assert_eq!(i32::MAX.text(Shown::Day), None);
    }
}
