//! `murmur data`: exit codes, what is printed, and what is said about bad input.

#![allow(clippy::unwrap_used, reason = "this is a test")]

mod common;

use std::path::{Path, PathBuf};

use serde_json::Value;

fn stdout(arguments: &[&str]) -> String {
    common::stdout(&[&["data"][..], arguments].concat())
}

#[track_caller]
fn refused(arguments: &[&str], parts: &[&str]) {
    common::refused(&[&["data"][..], arguments].concat(), parts);
}

fn write(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn digits_is_described_without_a_file() {
    let text = stdout(&["digits"]);
    for line in ["records", "1797", "8×8", "10 classes", "0 to 1"] {
        assert!(text.contains(line), "{text}");
    }
    // The class counts of the set's description.
    assert!(text.contains("0          178\n1          182\n"), "{text}");
}

#[test]
fn a_partition_is_shown_as_a_table_with_every_record() {
    let arguments = ["digits", "--partition", "dirichlet:alpha=0.5", "--nodes", "10", "--seed", "1"];
    let text = stdout(&arguments);
    assert!(text.contains("digits: dirichlet:alpha=0.5 over 10 nodes, seed 1"), "{text}");
    let total = text.lines().find(|line| line.trim_start().starts_with("all ")).unwrap();
    let numbers: Vec<&str> = total.split_whitespace().skip(1).collect();
    assert_eq!(numbers, ["1797", "178", "182", "177", "183", "181", "182", "181", "179", "174", "180"]);
    assert_eq!(text, stdout(&arguments));
}

#[test]
fn json_gives_sizes_that_sum_to_the_records() {
    let arguments = ["blobs:nodes=4,records=25,test=7", "--partition", "natural", "--format", "json"];
    let value: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
    assert_eq!((value["records"].as_u64(), value["test_records"].as_u64()), (Some(100), Some(7)));
    assert_eq!(value["partition"]["sizes"], serde_json::json!([25, 25, 25, 25]));
    assert_eq!(value["partition"]["nodes"], 4);
    let even: Value = serde_json::from_str(&stdout(&["digits", "--nodes", "3", "--format", "json"])).unwrap();
    assert_eq!(even["partition"]["scheme"], "iid");
    assert_eq!(even["partition"]["sizes"], serde_json::json!([599, 599, 599]));
}

#[test]
fn svg_goes_to_the_file_and_names_every_class() {
    let path = write("skew.svg", "");
    let out = path.to_str().unwrap();
    let arguments = ["breast-cancer", "--partition", "shards", "--format", "svg", "--out", out];
    assert!(stdout(&arguments).is_empty());
    let picture = std::fs::read_to_string(&path).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("malignant") && picture.contains("benign"));
    refused(&["digits", "--format", "svg"], &["nothing to draw", "hint: add `--partition"]);
}

#[test]
fn bad_input_is_refused_with_the_place_and_a_hint() {
    let csv = write("patients.csv", "age,sex,sick\n50,f,0\n61,m,1\n47,f,2\n");
    let with = |keys: &str| format!("{}:{keys}", csv.display());
    refused(
        &[&with("label=sik")],
        &["no column `sik`", "`age`, `sex`, `sick`", "hint: did you mean `sick`?"],
    );
    refused(&[&with("label=sick")], &["patients.csv`, row 1, column `sex`", "`f` is not a number", "hint: "]);
    let classes = with("label=sick,categorical=sex,classes=2");
    refused(&[&classes], &["row 3, column `sick`", "`2` is outside the classes 0 to 1"]);
    let good = with("label=sick,categorical=sex");
    refused(&[&good, "--nodes", "4"], &["4 nodes cannot share 3 records", "at most 3 nodes"]);
    refused(&[&good, "--partition", "natural"], &["no id column", "id=COLUMN"]);
    refused(&[&good, "--partition", "spiral"], &["no scheme `spiral`", "hint: use iid"]);
    refused(&["patient.csv:label=y"], &["cannot open `patient.csv`", "Caused by"]);
    refused(&["diggits"], &["no set `diggits`", "breast-cancer"]);
}

#[test]
fn a_table_is_the_same_however_another_program_wrote_it() {
    let plain = "age,note,sick\n50,\"a\nb, c\",0\n61,d,1\n47.5,d,1\n";
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        [&mark[..], &plain.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()].concat()
    };
    let semicolons = "age;note;sick\r\n50;\"a\nb, c\";0\r\n61;d;1\r\n47,5;d;1\r\n";
    let files = [
        ("plain.csv", plain.as_bytes().to_vec()),
        ("mark.csv", [&b"\xef\xbb\xbf"[..], plain.as_bytes()].concat()),
        ("little.csv", utf16([0xff, 0xfe], u16::to_le_bytes)),
        ("big.csv", utf16([0xfe, 0xff], u16::to_be_bytes)),
        ("semicolons.csv", semicolons.as_bytes().to_vec()),
        ("bars.csv", semicolons.replace(';', "|").into_bytes()),
        ("tabs.csv", semicolons.replace(';', "\t").into_bytes()),
        ("old-mac.csv", plain.replace("\n", "\r").replace("a\rb", "a\nb").into_bytes()),
        ("row-numbers.csv", b",age,note,sick,\n0,50,\"a\nb, c\",0,\n1,61,d,1,\n2,47.5,d,1,\n".to_vec()),
    ];
    let mut known: Option<Value> = None;
    for (name, content) in files {
        let source = format!("{}:label=sick,categorical=note", write(name, content).display());
        let mut found: Value = serde_json::from_str(&stdout(&[&source, "--format", "json"])).unwrap();
        found["source"] = Value::Null;
        assert_eq!(found["records"], 3, "{name}");
        assert_eq!(&found, known.get_or_insert_with(|| found.clone()), "{name}");
    }
}

#[test]
fn what_a_file_lacks_is_told_with_its_cure() {
    for (name, content, parts) in [
        ("bare.csv", "50,1,0\n61,0,1\n", &["no column `sick`", "looks like a record"][..]),
        ("carets.csv", "age^sick\n50^0\n", &["`age^sick`", "first line must hold the names", "delimiter="]),
        ("days.csv", "seen,sick\n2024-01-02,0\n2024-02-03,1\n", &["also in row 2", "say `date=seen` behind"]),
        ("form.csv", "a,sick\nx\ty,0\n1,1\n", &["`x y` is not a number"]),
        ("none.csv", "", &["has no records"]),
        ("sick.csv", "sick\n1\n0\n", &["no column is a feature"]),
        ("twice.csv", "a,a,sick\n1,2,0\n", &["column `a` is there twice"]),
    ] {
        let source = format!("{}:label=sick", write(name, content).display());
        refused(&[&source], parts);
    }
    let alike = write("alike.csv", "a,sick\n1,1\n2,1\n");
    let words = common::murmur(&["data", &format!("{}:label=sick", alike.display())]);
    let (said, shown) = (String::from_utf8_lossy(&words.stderr), String::from_utf8_lossy(&words.stdout));
    assert!(
        said.contains("nothing to tell apart") && shown.contains("target            1 class\n"),
        "{said}"
    );
}

#[test]
fn a_draft_says_what_it_leaves_out_and_is_never_made_of_nothing() {
    let ragged = write("ragged.csv", "a,sick\n1,0\n2\n3,1\n");
    let output = common::murmur(&["data", &format!("{}:label=sick", ragged.display()), "--schema"]);
    let (said, drafted) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success() && said.contains("1 of 3 rows"), "{said}");
    assert!(drafted.contains("[columns.a]\nbounds = [0, 3]"), "{drafted}");
    for (name, content, part) in [
        ("head.csv", "a,sick\n", "has no records"),
        ("same.csv", "a,a,sick\n1,2,0\n", "column `a` is there twice"),
    ] {
        let source = format!("{}:label=sick", write(name, content).display());
        refused(&[&source, "--schema"], &[part]);
    }
}
