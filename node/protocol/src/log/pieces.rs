//! A log in pieces: a long one goes on in the next file, `log-000001.jsonl` after `log.jsonl`, so that no file grows without end. In order they are one log.

use std::io;
use std::path::{Path, PathBuf};

/// A piece is ended by the line with which it is as long as this.
pub const LONGEST_PIECE: u64 = 64 << 20;

/// The piece with this number of the log that begins with the file `first`, which is number 0.
pub fn piece(first: &Path, number: u32) -> PathBuf {
    if number == 0 {
        first.to_owned()
    } else {
        first.with_file_name(format!("{}-{number:06}.jsonl", stem(first)))
    }
}

/// The number of the last piece that is there; 0 where there is none but the first, or none at all.
///
/// # Errors
/// A folder that cannot be listed.
pub fn last_piece(first: &Path) -> io::Result<u32> {
    Ok(numbers(first)?.into_iter().max().unwrap_or(0))
}

/// The files of a log, in order.
///
/// # Errors
/// A folder that cannot be listed; a piece that is gone, while a later one is there: what it told of is not known.
pub(super) fn pieces(first: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let numbers = numbers(first).map_err(|error| (first.to_owned(), error))?;
    let last = numbers.iter().copied().max().unwrap_or(0);
    let is_there = |number: &u32| *number == 0 && first.is_file() || numbers.contains(number);
    match (0..=last).find(|number| last > 0 && !is_there(number)) {
        Some(gone) => {
            let why = format!("it is gone, and the log goes on in `{}`", piece(first, last).display());
            Err((piece(first, gone), io::Error::other(why)))
        }
        None => Ok((0..=last).map(|number| piece(first, number)).collect()),
    }
}

/// Numbers of the pieces behind the first.
fn numbers(first: &Path) -> io::Result<Vec<u32>> {
    let folder = first.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let prefix = format!("{}-", stem(first));
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(".jsonl"));
        let number =
            number.filter(|digits| digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit()));
        numbers.extend(number.and_then(|digits| digits.parse::<u32>().ok()).filter(|number| *number > 0));
    }
    Ok(numbers)
}

fn stem(first: &Path) -> String {
    first.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_order_and_one_that_is_gone_is_named() {
        let folder = std::env::temp_dir().join(format!("murmur-pieces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let first = folder.join("log.jsonl");
        assert_eq!((last_piece(&first).unwrap(), pieces(&first).unwrap()), (0, vec![first.clone()]));
        for name in [
            "log.jsonl",
            "log-000001.jsonl",
            "log-000002.jsonl",
            "log-0000.jsonl",
            "log-old.jsonl",
            "other-000007.jsonl",
        ] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let expected = ["log.jsonl", "log-000001.jsonl", "log-000002.jsonl"].map(|name| folder.join(name));
        assert_eq!((last_piece(&first).unwrap(), pieces(&first).unwrap()), (2, expected.to_vec()));
        assert_eq!([0, 2].map(|number| piece(&first, number)), [expected[0].clone(), expected[2].clone()]);
        for gone in [1, 0] {
            std::fs::remove_file(&expected[gone]).unwrap();
            let (path, why) = pieces(&first).unwrap_err();
            assert_eq!(path, expected[gone]);
            assert!(why.to_string().contains("log-000002.jsonl"), "{why}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(last_piece(&first).unwrap(), 0, "a folder that is not there has none");
    }
}
