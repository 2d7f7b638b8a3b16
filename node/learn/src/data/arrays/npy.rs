//! NPY arrays (NumPy enhancement proposal 1, versions 1 to 3) and NPZ archives of them.
//!
//! The header is a Python dictionary with three known keys; this parser takes exactly those and nothing nested,
//! so that no file can make it recurse or allocate on a forged length.

use std::io::{Cursor, Read, Seek};

use zip::ZipArchive;

use super::super::error::{DataError, listed, nearest};
use super::super::input::Input;
use super::elements::{Array, Element, Float, Kind, Layout};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header that is read; NumPy's own are 128 bytes.
const MAX_HEADER: u64 = 1 << 16;

/// Whether content that starts so is an NPY file.
pub(crate) fn is_npy(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Whether content that starts so is a ZIP (NPZ) file.
pub(crate) fn is_npz(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// Reads an NPY file, plain or gzipped.
///
/// # Errors
/// A missing or truncated file, or an array that does not hold plain numbers.
pub(crate) fn read_npy<T: Float>(input: &Input) -> Result<Array<T>, DataError> {
    read_array(&input.name(), input.content_length()?, &mut input.open()?)
}

/// An opened NPZ archive.
pub(crate) struct Npz {
    file: String,
    archive: ZipArchive<Box<dyn ReadSeek>>,
}

pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Npz {
    /// Opens an archive; one that is gzipped as a whole, which cannot be sought in, is unpacked in memory.
    pub(crate) fn open(input: &Input) -> Result<Self, DataError> {
        let start = |source| input.read_error(source);
        let content: Box<dyn ReadSeek> = match input {
            Input::File(path) if is_npz(&raw_start(path, input)?) => {
                Box::new(std::io::BufReader::new(std::fs::File::open(path).map_err(start)?))
            }
            _ => {
                let mut bytes = Vec::new();
                input.open()?.read_to_end(&mut bytes).map_err(start)?;
                Box::new(Cursor::new(bytes))
            }
        };
        let archive = ZipArchive::new(content)
            .map_err(|error| input.malformed(format!("not a complete NPZ archive ({error})")))?;
        Ok(Self { file: input.name(), archive })
    }

    /// Names of the arrays, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let arrays = self.archive.file_names().flatten();
        let mut names: Vec<String> =
            arrays.filter_map(|entry| Some(entry.strip_suffix(".npy")?.to_owned())).collect();
        names.sort();
        names
    }

    /// The array called `name`.
    ///
    /// # Errors
    /// No such array, or one that is truncated or does not hold plain numbers.
    pub(crate) fn read<T: Float>(&mut self, name: &str) -> Result<Array<T>, DataError> {
        if !self.names().iter().any(|known| known == name) {
            let names = self.names();
            let near =
                nearest(name, &names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let why = format!("no array `{name}`; the archive has {}{near}", listed(&names));
            return Err(DataError::Malformed { file: self.file.clone(), why });
        }
        let place = format!("{}:{name}", self.file);
        let entry = format!("{name}.npy");
        let malformed = |error: &dyn std::fmt::Display| DataError::Malformed {
            file: place.clone(),
            why: format!("cannot be unpacked ({error})"),
        };
        // Read through once to know its true length: the archive's word for it could be forged.
        let mut content = self.archive.by_name(&entry).map_err(|error| malformed(&error))?;
        let length = std::io::copy(&mut content, &mut std::io::sink()).map_err(|error| malformed(&error))?;
        drop(content);
        let mut content = self.archive.by_name(&entry).map_err(|error| malformed(&error))?;
        read_array(&place, length, &mut content)
    }
}

fn raw_start(path: &std::path::Path, input: &Input) -> Result<Vec<u8>, DataError> {
    let cannot = |source| DataError::Open { path: path.to_path_buf(), source };
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(4).read_to_end(&mut start).map_err(|source| input.read_error(source))?;
    Ok(start)
}

fn read_array<T: Float>(file: &str, length: u64, content: &mut dyn Read) -> Result<Array<T>, DataError> {
    let layout = read_header(file, length, content)?;
    layout.read(file, length, content)
}

fn read_header(file: &str, length: u64, content: &mut dyn Read) -> Result<Layout, DataError> {
    let malformed = |why: String| DataError::Malformed { file: file.into(), why };
    let mut at = 0u64;
    let mut take = |count: u64| -> Result<Vec<u8>, DataError> {
        if length < at + count {
            let what = "the header of an NPY file".to_string();
            return Err(DataError::Truncated {
                file: file.into(),
                what,
                expected: at + count,
                found: length,
            });
        }
        let mut bytes = vec![0u8; count as usize];
        content.read_exact(&mut bytes).map_err(|source| DataError::Read { file: file.into(), source })?;
        at += count;
        Ok(bytes)
    };
    let start = take(8)?;
    if !is_npy(&start) {
        return Err(malformed("not an NPY file".into()));
    }
    let text_length = match start[6] {
        1 => take(2)?.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte)),
        2 | 3 => take(4)?.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte)),
        version => return Err(malformed(format!("NPY version {version} is unknown"))),
    };
    if text_length > MAX_HEADER {
        return Err(malformed(format!("an NPY header of {text_length} bytes")));
    }
    let text = take(text_length)?;
    let text = String::from_utf8_lossy(&text);
    let (shape, element, fortran_order) =
        parse_header(&text).map_err(|why| malformed(format!("{why} in the NPY header `{}`", text.trim())))?;
    Ok(Layout { shape, element, fortran_order, header: at })
}

fn parse_header(text: &str) -> Result<(Vec<usize>, Element, bool), String> {
    let after = |key: &str| -> Result<&str, String> {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|quoted| text.find(quoted).map(|at| at + quoted.len()));
        let rest = at.map(|at| text[at..].trim_start()).ok_or(format!("no `{key}`"))?;
        rest.strip_prefix(':').map(str::trim_start).ok_or(format!("no value for `{key}`"))
    };
    let descr = after("descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("a type with fields")?;
    let descr = descr[1..].split(quote).next().unwrap_or_default();
    let fortran_order = match after("fortran_order")? {
        value if value.starts_with("True") => true,
        value if value.starts_with("False") => false,
        _ => return Err("`fortran_order` is neither True nor False".into()),
    };
    let shape = after("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let shape = shape.ok_or("a malformed shape")?.0;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape = sizes
        .map(|size| size.trim_end_matches('L').parse::<usize>().map_err(|_| format!("the size `{size}`")))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((shape, element_of(descr)?, fortran_order))
}

/// `<f4` and the like; `|` and `=` stand for "no order" and "the writer's order", which is little-endian on
/// every machine of today.
fn element_of(descr: &str) -> Result<Element, String> {
    let (order, kind) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
        _ => ('<', descr),
    };
    let kind = match kind {
        "u1" | "b1" | "?" => Kind::U8,
        "i1" => Kind::I8,
        "u2" => Kind::U16,
        "i2" => Kind::I16,
        "u4" => Kind::U32,
        "i4" => Kind::I32,
        "u8" => Kind::U64,
        "i8" => Kind::I64,
        "f2" => Kind::F16,
        "f4" => Kind::F32,
        "f8" => Kind::F64,
        _ => {
            return Err(format!(
                "the type `{descr}`, which is not a whole number or a float of 1 to 8 bytes,"
            ));
        }
    };
    Ok(Element { kind, big_endian: order == '>' })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Array<f32>, DataError> {
        read_array("test.npy", bytes.len() as u64, &mut &bytes[..])
    }

    fn small() -> Vec<u8> {
        let data: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", &data)
    }

    #[test]
    fn shape_type_and_order_come_from_the_header() {
        assert_eq!(
            read(&small()).unwrap(),
            Array { shape: vec![2, 3], values: vec![1., 2., 3., 4., 5., 6.] }
        );
        let swapped =
            npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", &[0, 1, 0, 2, 0, 3, 0, 4]);
        assert_eq!(read(&swapped).unwrap().values, [1.0, 3.0, 2.0, 4.0]);
        let vector = npy("{'shape': (3,), 'fortran_order': False, 'descr': '|b1'}", &[1, 0, 1]);
        assert_eq!(read(&vector).unwrap(), Array { shape: vec![3], values: vec![1.0, 0.0, 1.0] });
    }

    #[test]
    fn every_truncation_is_refused_as_such() {
        let whole = small();
        for length in 0..whole.len() {
            let refused = read(&whole[..length]).unwrap_err();
            assert!(matches!(refused, DataError::Truncated { .. }), "{length}: {refused}");
        }
    }

    #[test]
    fn arrays_that_are_not_plain_numbers_are_refused_with_their_type() {
        for descr in ["'|O'", "'<U5'", "'<c8'", "[('a', '<f4')]", "'<M8[ns]'"] {
            let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
            let message = read(&npy(&header, &[0; 8])).unwrap_err().to_string();
            assert!(message.contains("type"), "{message}");
        }
    }

    #[test]
    fn a_forged_size_is_refused() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }";
        assert!(matches!(read(&npy(header, &[0; 8])), Err(DataError::TooLarge { .. })));
        let mut forged = MAGIC.to_vec();
        forged.extend([2, 0, 0xff, 0xff, 0xff, 0xff]);
        assert!(read(&forged).unwrap_err().to_string().contains("4294967295"));
    }

    proptest! {
        #[test]
        fn arbitrary_headers_never_panic(header in ".{0,80}", data in prop::collection::vec(any::<u8>(), 0..32)) {
            let _ = read(&npy(&header, &data));
        }

        #[test]
        fn damaged_headers_never_panic(at in 0usize..70, byte: u8) {
            let mut damaged = small();
            damaged[at] = byte;
            let _ = read(&damaged);
        }
    }
}
