//! The readers on files: every format also gzipped, missing and damaged files.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use topology::Hint;

use learn::data::{ArrayOptions, DataError, DataSource, Loaded, TargetKind, read_arrays};

fn write(name: &str, content: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn features() -> Vec<u8> {
    let data: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    npy("<f4", "(3, 2)", &data)
}

fn labels() -> Vec<u8> {
    npy("<i8", "(3,)", &[0i64, 1, 0].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn load(path: &Path, keys: &str) -> Result<Loaded, DataError> {
    format!("{}{keys}", path.display()).parse::<DataSource>()?.load(1)
}

/// The three records that every file of this test holds.
#[track_caller]
fn assert_is_the_set(loaded: Loaded) {
    let data = loaded.train;
    assert_eq!((data.row(0), data.row(1), data.row(2)), (&[1.0, 2.0][..], &[3.0, 4.0][..], &[5.0, 6.0][..]));
    assert_eq!(data.labels().unwrap().as_ref(), [0, 1, 0]);
}

#[test]
fn every_format_reads_alike_plain_and_gzipped_whatever_the_name() {
    let csv = b"a,b,y\n1,2,0\n3,4,1\n5,6,0\n";
    let svm = b"0 1:1 2:2\n1 1:3 2:4\n0 1:5 2:6\n";
    let idx = [&[0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 2][..], &[1, 2, 3, 4, 5, 6]].concat();
    let idx_labels = write("labels.idx", &[0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 0]);
    let npy_labels = write("labels.npy", &gzip(&labels()));
    let beside = |path: &Path| format!(":labels={}", path.display());
    for (name, content, keys) in [
        ("set.csv", csv.to_vec(), ":label=y".to_string()),
        ("set.svm", svm.to_vec(), String::new()),
        ("set.idx", idx.clone(), beside(&idx_labels)),
        ("set.npy", features(), beside(&npy_labels)),
        ("mixed.npy", features(), beside(&idx_labels)),
    ] {
        assert_is_the_set(load(&write(name, &content), &keys).unwrap());
        // Without `.gz` in the name: the content decides.
        assert_is_the_set(load(&write(&format!("packed-{name}"), &gzip(&content)), &keys).unwrap());
    }
}

#[test]
fn npz_archives_are_read_by_usual_or_given_names_also_gzipped() {
    let usual = zip(&[("x", features()), ("y", labels())]);
    let named = zip(&[("pixels", features()), ("digit", labels())]);
    for (name, bytes, keys) in [
        ("usual.npz", usual.clone(), ""),
        ("usual.npz.gz", gzip(&usual), ""),
        ("named.npz", named.clone(), ":x=pixels,y=digit"),
    ] {
        assert_is_the_set(load(&write(name, &bytes), keys).unwrap());
    }
    let message = load(&write("named.npz", &named), ":x=pixel,y=digit").unwrap_err().to_string();
    assert!(message.contains("`digit`, `pixels`") && message.contains("did you mean `pixels`"), "{message}");
    let split =
        zip(&[("x_train", features()), ("y_train", labels()), ("x_test", features()), ("y_test", labels())]);
    let loaded = load(&write("split.npz", &split), "").unwrap();
    assert_eq!(loaded.test.as_ref().unwrap().len(), 3);
    assert_is_the_set(loaded);
}

#[test]
fn a_column_of_a_table_can_be_the_label() {
    let data: Vec<u8> =
        [1.0f64, 0.0, 2.0, 3.0, 1.0, 4.0, 5.0, 0.0, 6.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let path = write("table.npy", &npy(">f8", "(3, 3)", &data));
    assert_is_the_set(load(&path, ":label_column=1").unwrap());
    let message = load(&path, ":label_column=3").unwrap_err().to_string();
    assert!(message.contains("no column 3") && message.contains("3×3"), "{message}");
}

#[test]
fn images_keep_their_shape_and_ids_become_groups() {
    let images =
        write("images.idx", &[&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[9, 8, 7, 6]].concat());
    let ids = write("ids.idx", &[0, 0, 0x0b, 1, 0, 0, 0, 2, 1, 4, 0, 3]);
    let data = load(&images, &format!(":id={}", ids.display())).unwrap().train;
    let shape = data.image_shape().unwrap();
    assert_eq!((shape.height, shape.width), (1, 2));
    assert_eq!(data.group_names().unwrap(), ["260", "3"]);
}

#[test]
fn a_missing_file_is_named_with_a_similar_one_beside_it() {
    let there = write("patients.csv", b"a,y\n1,0\n");
    let error = load(&there.with_file_name("patient.csv"), ":label=y").unwrap_err();
    assert!(error.to_string().contains("patient.csv"), "{error}");
    assert!(error.hint().unwrap().contains("patients.csv"));
    assert!(
        load(Path::new("/nowhere/at/all.npy"), "").unwrap_err().to_string().contains("/nowhere/at/all.npy")
    );
}

#[test]
fn truncated_files_are_refused_by_name() {
    let whole = features();
    let cut = write("cut.npy", &whole[..whole.len() - 1]);
    let message = load(&cut, "").unwrap_err().to_string();
    assert!(message.contains("cut.npy` is truncated") && message.contains("3×2"), "{message}");
    // A gzip stream that ends early is an error of reading, whatever it holds.
    let packed = gzip(b"a,y\n1,0\n2,1\n");
    let cut = write("cut.csv.gz", &packed[..packed.len() - 6]);
    assert!(load(&cut, ":label=y").unwrap_err().to_string().contains("cut.csv.gz"));
    let archive = zip(&[("x", features())]);
    for length in [0, 4, 20, archive.len() / 2, archive.len() - 1] {
        let cut = write(&format!("cut{length}.npz"), &archive[..length]);
        let message = load(&cut, "").unwrap_err().to_string();
        assert!(message.contains(&format!("cut{length}.npz")), "{message}");
    }
}

#[test]
fn arrays_that_do_not_belong_together_are_refused_with_both_counts() {
    let two = write("two-labels.npy", &npy("|u1", "(2,)", &[0, 1]));
    let x = write("three-rows.npy", &features());
    let message = load(&x, &format!(":labels={}", two.display())).unwrap_err().to_string();
    assert!(message.contains("2 labels") && message.contains("3 records"), "{message}");
}

#[test]
fn values_that_are_not_finite_are_refused_with_file_row_and_column_unless_filled() {
    let data: Vec<u8> = [1.0f32, 2.0, 3.0, f32::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
    let path = write("nan.npy", &npy("<f4", "(2, 2)", &data));
    let message = load(&path, "").unwrap_err().to_string();
    assert!(message.contains("nan.npy`, row 2, column `1`"), "{message}");
    assert_eq!(load(&path, ":fill=7").unwrap().train.row(1), [3.0, 7.0]);
}

#[test]
fn a_label_outside_the_classes_names_the_label_file() {
    let x = write("x-three.npy", &features());
    let y = write("y-wild.npy", &npy("|u1", "(3,)", &[0, 1, 9]));
    let options = ArrayOptions { labels: Some(y), target: TargetKind::Classes(2), ..ArrayOptions::default() };
    let message = read_arrays(&x, &options).unwrap_err().to_string();
    assert!(message.contains("y-wild.npy`, row 3") && message.contains("`9`"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_archives_never_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut archive = zip(&[("x", features()), ("y", labels())]);
        for (at, byte) in damage {
            let at = at.index(archive.len());
            archive[at] = byte;
        }
        let _ = load(&write("damaged.npz", &archive), "");
    }
}

/// A ZIP archive with stored (uncompressed) entries, written by hand (APPNOTE 4.3).
fn zip(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in arrays {
        let name = format!("{name}.npy");
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        about.extend(crc.sum().to_le_bytes());
        about.extend((content.len() as u32).to_le_bytes());
        about.extend((content.len() as u32).to_le_bytes());
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend((arrays.len() as u16).to_le_bytes());
    bytes.extend((arrays.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
