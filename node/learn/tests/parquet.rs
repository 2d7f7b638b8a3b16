//! Parquet against what pyarrow wrote: `scripts/parquet_reference.py` makes the same table as Parquet, with a codec for each column, and as CSV.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use learn::data::{CsvOptions, DataSource, read_table};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

#[test]
fn every_cell_is_what_pyarrow_wrote() {
    let ours = read_table(testdata("patients.parquet"), &CsvOptions::default()).unwrap();
    let theirs = read_table(testdata("patients.csv.gz"), &CsvOptions::default()).unwrap();
    assert_eq!(ours.names, theirs.names);
    assert_eq!((ours.rows.len(), theirs.rows.len()), (1500, 1500));
    for (row, (ours, theirs)) in ours.rows.iter().zip(&theirs.rows).enumerate() {
        assert_eq!(ours, theirs, "row {row}");
    }
}

#[test]
fn keys_behind_a_parquet_file_mean_what_they_mean_behind_a_table() {
    let load = |name: &str| {
        let keys = "label=sick,classes=no+yes,fill=0,categorical=sex[f|m],date=born@iso+seen@iso,drop=note";
        let source: DataSource = format!("{}:{keys}", testdata(name).display()).parse().unwrap();
        source.load(1).unwrap().train
    };
    let (ours, theirs) = (load("patients.parquet"), load("patients.csv.gz"));
    assert_eq!(ours.feature_names(), theirs.feature_names());
    assert_eq!(ours.labels(), theirs.labels());
    assert_eq!(ours.matrix(), theirs.matrix());
}

#[test]
fn a_damaged_file_ends_in_words() {
    let bytes = std::fs::read(testdata("patients.parquet")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        read_table(&path, &CsvOptions::default())
            .map(|table| table.rows.len())
            .err()
            .map(|error| error.to_string())
    };
    for length in [4, 12, 1000, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
        let message = refused(&bytes[..length]).unwrap();
        assert!(message.contains("damaged.parquet") && message.contains("Parquet"), "{message}");
    }
    // A byte somewhere, by a generator of its own: a value may change without notice, but nothing may stop the program.
    let mut seed = 7u64;
    for _ in 0..300 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut changed = bytes.clone();
        let at = (seed >> 33) as usize % changed.len();
        changed[at] ^= (seed >> 20) as u8 | 1;
        let _ = refused(&changed);
    }
}
