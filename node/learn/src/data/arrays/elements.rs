//! Numbers in binary files: decoding a stream of fixed-size elements into floats.

use std::io::{ErrorKind, Read};

use super::super::error::DataError;

/// Most numbers of one array (16 GiB as `f32`): a larger claim in a header is surely wrong.
pub(crate) const MAX_VALUES: u64 = 1 << 32;

/// The type of a number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

/// The type and byte order of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    pub(crate) big_endian: bool,
}

/// A float that numbers of a file are turned into: `f32` for features, `f64` for labels.
pub(crate) trait Float: Copy + Default {
    fn from_f64(value: f64) -> Self;
}

impl Float for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

impl Float for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Element {
    /// Bytes of one number.
    pub(crate) fn size(self) -> usize {
        match self.kind {
            Kind::U8 | Kind::I8 => 1,
            Kind::U16 | Kind::I16 | Kind::F16 => 2,
            Kind::U32 | Kind::I32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 | Kind::F64 => 8,
        }
    }

    /// Decodes whole elements of `bytes` and hands each to `take`.
    fn decode(self, bytes: &[u8], mut take: impl FnMut(f64)) {
        macro_rules! each {
            ($type:ty) => {
                each!($type, |value: $type| value as f64)
            };
            ($type:ty, $convert:expr) => {
                for chunk in bytes.chunks_exact(size_of::<$type>()) {
                    let chunk = chunk.try_into().expect("chunks have the size of the type");
                    let value = if self.big_endian {
                        <$type>::from_be_bytes(chunk)
                    } else {
                        <$type>::from_le_bytes(chunk)
                    };
                    take($convert(value));
                }
            };
        }
        match self.kind {
            Kind::U8 => each!(u8),
            Kind::I8 => each!(i8),
            Kind::U16 => each!(u16),
            Kind::I16 => each!(i16),
            Kind::U32 => each!(u32),
            Kind::I32 => each!(i32),
            Kind::U64 => each!(u64),
            Kind::I64 => each!(i64),
            Kind::F16 => each!(u16, from_half),
            Kind::F32 => each!(f32),
            Kind::F64 => each!(f64),
        }
    }
}

/// A number in half precision (IEEE 754 binary16) by its bits.
fn from_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let size = match exponent {
        0 => libm::ldexp(fraction, -14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(1.0 + fraction, exponent - 15),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// The numbers that a header promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    /// Whether the first index runs fastest.
    pub(crate) fortran_order: bool,
    /// Bytes before the first number.
    pub(crate) header: u64,
}

/// An array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array<T> {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<T>,
}

impl<T> Array<T> {
    /// Entries along the first axis.
    pub(crate) fn records(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Numbers per entry of the first axis.
    pub(crate) fn width(&self) -> usize {
        self.shape.iter().skip(1).product()
    }
}

impl Layout {
    /// Checks the promise against the bytes that are there (`length`, header included) and returns how many
    /// numbers follow. Nothing is allocated on the word of a header alone.
    pub(crate) fn check(&self, file: &str, length: u64) -> Result<usize, DataError> {
        let sizes = || self.shape.iter().map(|&size| size as u64);
        let count = sizes().try_fold(1u64, u64::checked_mul).filter(|&count| count <= MAX_VALUES);
        let Some(count) = count else {
            let count = sizes().fold(1u64, u64::saturating_mul);
            return Err(DataError::TooLarge { file: file.into(), what: "numbers", count, limit: MAX_VALUES });
        };
        if count == 0 {
            return Err(DataError::Empty { file: file.into() });
        }
        let expected = self.header + count * self.element.size() as u64;
        if length < expected {
            let what = format!("an array of {} numbers", shape_text(&self.shape));
            return Err(DataError::Truncated { file: file.into(), what, expected, found: length });
        }
        if length > expected {
            let why = format!("{} bytes follow after the end of the array", length - expected);
            return Err(DataError::Malformed { file: file.into(), why });
        }
        Ok(count as usize)
    }

    /// Reads the numbers from `content`, which stands behind the header.
    pub(crate) fn read<T: Float>(
        &self,
        file: &str,
        length: u64,
        content: &mut dyn Read,
    ) -> Result<Array<T>, DataError> {
        let count = self.check(file, length)?;
        let mut buffer = vec![0u8; 1 << 16];
        let mut values: Vec<T> = Vec::with_capacity(count);
        let mut left = count;
        while left > 0 {
            let bytes = (left * self.element.size()).min(buffer.len());
            content.read_exact(&mut buffer[..bytes]).map_err(|source| match source.kind() {
                ErrorKind::UnexpectedEof => DataError::Malformed {
                    file: file.into(),
                    why: "the file changed while it was read".into(),
                },
                _ => DataError::Read { file: file.into(), source },
            })?;
            self.element.decode(&buffer[..bytes], |value| values.push(T::from_f64(value)));
            left -= bytes / self.element.size();
        }
        if self.fortran_order {
            values = to_row_major(&self.shape, &values);
        }
        Ok(Array { shape: self.shape.clone(), values })
    }
}

/// The same array with the last index running fastest.
fn to_row_major<T: Float>(shape: &[usize], values: &[T]) -> Vec<T> {
    // stride[k] = product of the sizes behind k: how far one step along axis k goes in the result.
    let mut strides = vec![1usize; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1];
    }
    let mut result = vec![T::default(); values.len()];
    let mut index = vec![0usize; shape.len()];
    let mut target = 0usize;
    for &value in values {
        result[target] = value;
        for axis in 0..shape.len() {
            index[axis] += 1;
            target += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            target -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    result
}

/// `60000×28×28`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("×")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_order_is_turned_into_row_order() {
        // The 2×3 array [[1, 2, 3], [4, 5, 6]] column by column.
        assert_eq!(to_row_major(&[2, 3], &[1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        // a[i][j][k] = 100 i + 10 j + k of shape 2×2×3 with the first index fastest.
        let values: Vec<f32> = (0..3)
            .flat_map(|k| (0..2).flat_map(move |j| (0..2).map(move |i| (100 * i + 10 * j + k) as f32)))
            .collect();
        let expected: Vec<f32> = (0..2)
            .flat_map(|i| (0..2).flat_map(move |j| (0..3).map(move |k| (100 * i + 10 * j + k) as f32)))
            .collect();
        assert_eq!(to_row_major(&[2, 2, 3], &values), expected);
    }

    #[test]
    fn a_header_that_promises_too_much_is_refused_before_anything_is_allocated() {
        let element = Element { kind: Kind::F64, big_endian: false };
        let layout = |shape: Vec<usize>| Layout { shape, element, fortran_order: false, header: 10 };
        assert!(matches!(layout(vec![usize::MAX, 2]).check("x", 20), Err(DataError::TooLarge { .. })));
        let short = layout(vec![3]).check("x", 10 + 23).unwrap_err();
        assert!(matches!(short, DataError::Truncated { expected: 34, found: 33, .. }));
        assert!(matches!(layout(vec![3]).check("x", 10 + 25), Err(DataError::Malformed { .. })));
        assert!(matches!(layout(vec![0, 4]).check("x", 10), Err(DataError::Empty { .. })));
        assert_eq!(layout(vec![3]).check("x", 34).unwrap(), 3);
    }

    #[test]
    fn every_type_is_decoded_in_both_byte_orders() {
        let decode = |kind, big_endian, bytes: &[u8]| {
            let mut values = Vec::new();
            Element { kind, big_endian }.decode(bytes, |value| values.push(value));
            values
        };
        assert_eq!(decode(Kind::I16, true, &[0xff, 0xfe, 0x01, 0x00]), [-2.0, 256.0]);
        assert_eq!(decode(Kind::I16, false, &[0xfe, 0xff]), [-2.0]);
        assert_eq!(decode(Kind::U32, true, &[0, 0, 1, 2]), [258.0]);
        assert_eq!(decode(Kind::F32, false, &1.5f32.to_le_bytes()), [1.5]);
        assert_eq!(decode(Kind::F64, true, &(-0.1f64).to_be_bytes()), [-0.1]);
        assert_eq!(decode(Kind::I8, false, &[0x80, 5]), [-128.0, 5.0]);
        // 1, -2, the largest, the smallest normal and the smallest of all, as numpy writes them.
        let half = [0x3c00_u16, 0xc000, 0x7bff, 0x0400, 0x0001];
        let expected = [1.0, -2.0, 65_504.0, f64::exp2(-14.0), f64::exp2(-24.0)];
        assert_eq!(decode(Kind::F16, false, &half.map(u16::to_le_bytes).concat()), expected);
        assert_eq!(decode(Kind::F16, true, &half.map(u16::to_be_bytes).concat()), expected);
        assert!(decode(Kind::F16, false, &[0x01, 0x7c])[0].is_nan());
        assert_eq!(decode(Kind::F16, false, &[0x00, 0xfc]), [f64::NEG_INFINITY]);
    }
}
