//! IDX files, the format of the MNIST family (Y. LeCun, "The MNIST database", file formats): two zero bytes,
//! a type byte, the number of dimensions, the sizes as big-endian `u32`, then the numbers, big-endian.

use std::io::Read;

use super::super::error::DataError;
use super::super::input::Input;
use super::elements::{Array, Element, Float, Kind, Layout};

/// Reads an IDX file, plain or gzipped.
///
/// # Errors
/// A missing or truncated file, or one that is not in this format.
pub(crate) fn read_idx<T: Float>(input: &Input) -> Result<Array<T>, DataError> {
    let length = input.content_length()?;
    let mut content = input.open()?;
    let layout = read_header(input, length, &mut content)?;
    layout.read(&input.name(), length, &mut content)
}

fn read_header(input: &Input, length: u64, content: &mut dyn Read) -> Result<Layout, DataError> {
    let mut take = |what: &str, from: u64, bytes: &mut [u8]| {
        let expected = from + bytes.len() as u64;
        if length < expected {
            let (file, what) = (input.name(), what.to_string());
            return Err(DataError::Truncated { file, what, expected, found: length });
        }
        content.read_exact(bytes).map_err(|source| input.read_error(source))
    };
    let mut magic = [0u8; 4];
    take("the header of an IDX file", 0, &mut magic)?;
    let [0, 0, type_code, dimensions] = magic else {
        return Err(input.malformed(format!("not an IDX file: it starts with {magic:02x?}")));
    };
    let kind = kind_of(type_code)
        .ok_or_else(|| input.malformed(format!("the IDX type 0x{type_code:02x} is unknown")))?;
    if !(1..=8).contains(&dimensions) {
        return Err(input.malformed(format!("an IDX array of {dimensions} dimensions")));
    }
    let mut shape = Vec::new();
    for axis in 0..u64::from(dimensions) {
        let mut size = [0u8; 4];
        take("the header of an IDX file", 4 + 4 * axis, &mut size)?;
        shape.push(u32::from_be_bytes(size) as usize);
    }
    let header = 4 + 4 * u64::from(dimensions);
    Ok(Layout { shape, element: Element { kind, big_endian: true }, fortran_order: false, header })
}

fn kind_of(code: u8) -> Option<Kind> {
    Some(match code {
        0x08 => Kind::U8,
        0x09 => Kind::I8,
        0x0b => Kind::I16,
        0x0c => Kind::I32,
        0x0d => Kind::F32,
        0x0e => Kind::F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Array<f32>, DataError> {
        read_idx(&Input::Embedded { name: "test.idx", bytes: bytes.to_vec().leak() })
    }

    /// Two images of 1×3 pixels.
    const SMALL: [u8; 22] = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 253, 254, 255];

    #[test]
    fn sizes_and_numbers_are_read_big_endian() {
        let array = read(&SMALL).unwrap();
        assert_eq!((array.shape, array.values), (vec![2, 1, 3], vec![1.0, 2.0, 3.0, 253.0, 254.0, 255.0]));
        let shorts = read(&[0, 0, 0x0b, 1, 0, 0, 0, 2, 0, 3, 0xff, 0xff]).unwrap();
        assert_eq!(shorts.values, [3.0, -1.0]);
    }

    #[test]
    fn every_truncation_is_refused_with_the_bytes_needed_and_there() {
        for length in 0..SMALL.len() {
            match read(&SMALL[..length]) {
                Err(DataError::Truncated { found, expected, .. }) => {
                    assert_eq!(found, length as u64);
                    assert!(expected > found);
                }
                other => panic!("{length} bytes: {other:?}"),
            }
        }
    }

    #[test]
    fn something_else_is_refused_as_such() {
        assert!(read(b"label,p0\n1,2\n").unwrap_err().to_string().contains("not an IDX file"));
        assert!(read(&[0, 0, 7, 1, 0, 0, 0, 1, 0]).unwrap_err().to_string().contains("0x07"));
        // A claim of 2^96 numbers.
        let huge = [&[0, 0, 8, 3][..], &[0xff; 12], &[0; 9]].concat();
        assert!(matches!(read(&huge), Err(DataError::TooLarge { .. })));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), start in 0usize..2) {
            let bytes = if start == 0 { bytes } else { [&[0, 0, 8][..], &bytes].concat() };
            let _ = read(&bytes);
        }
    }
}
