//! Files that differ in everything but their records give the same rows under one schema.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use learn::data::{DataError, DataSource, Dataset, LabelUse};
use learn::schema::Schema;

const SCHEMA: &str = r#"
[schema]
label = "sick"
person = "patient"

[columns.age]
bounds = [0, 100]
fill = 50

[columns.weight]
bounds = [0, 200]

[columns.region]
values = ["north", "south"]

[columns.admitted]
date = "%d.%m.%Y"
bounds = ["2000-01-01", "2000-01-11"]

[columns.sick]
values = ["no", "yes"]
"#;

fn schema() -> Schema {
    Schema::from_toml(SCHEMA, "schema.toml").unwrap()
}

fn read(file: &str, content: &[u8], label: LabelUse) -> Result<Dataset, DataError> {
    let folder = std::env::temp_dir().join(format!("murmur-schema-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file);
    std::fs::write(&path, content).unwrap();
    let source: DataSource = path.display().to_string().parse().unwrap();
    Ok(source.with_schema(&schema(), label)?.load(1)?.train)
}

#[test]
fn order_delimiter_decimal_sign_and_encoding_do_not_matter() {
    let plain = "patient,age,weight,region,admitted,sick,note\n7,40,62.5,south,03.01.2000,yes,x\n8,,80.0,north,11.01.2000,no,y\n";
    let other = "sick;region;note;admitted;weight;age;patient\nyes;south;\u{e4};03.01.2000;62,5;40;7\nno;north;;11.01.2000;80,0;NA;8\n";
    let latin: Vec<u8> = other.chars().map(|letter| letter as u8).collect();
    let one = read("plain.csv", plain.as_bytes(), LabelUse::Needed).unwrap();
    let two = read("other.csv", &latin, LabelUse::Needed).unwrap();
    // By hand: 2 of 10 days, 40 of 100 years, north, south, 62.5 of 200 kg.
    assert_eq!(one.feature_names().unwrap(), ["admitted", "age", "region=north", "region=south", "weight"]);
    assert_eq!(one.row(0), [0.2, 0.4, 0.0, 1.0, 0.3125]);
    assert_eq!(one.row(1), [1.0, 0.5, 1.0, 0.0, 0.4]);
    assert_eq!(one.class_names().unwrap(), ["no", "yes"]);
    assert_eq!(one.labels().unwrap().as_ref(), [1, 0]);
    assert_eq!(one, two);
}

#[test]
fn all_missing_columns_are_named_at_once_and_a_label_is_needed_only_to_learn() {
    let error =
        read("short.csv", b"age,region,patient\n1,north,1\n", LabelUse::Needed).unwrap_err().to_string();
    for name in ["`admitted`", "`weight`"] {
        assert!(error.contains(name), "{error}");
    }
    let new = b"patient,age,weight,region,admitted\n7,40,62.5,south,03.01.2000\n";
    assert!(read("new.csv", new, LabelUse::Needed).is_err());
    let data = read("new.csv", new, LabelUse::IfThere).unwrap();
    assert_eq!((data.row(0), data.labels()), (&[0.2, 0.4, 0.0, 1.0, 0.3125][..], None));
}

#[test]
fn what_the_schema_decides_is_not_said_again() {
    for keys in ["label=sick", "scale=l2", "categorical=region", "fill=0", "drop=age"] {
        let source: DataSource = format!("a.csv:{keys}").parse().unwrap();
        let error = source.with_schema(&schema(), LabelUse::Needed).unwrap_err().to_string();
        assert!(error.contains("the schema says"), "{keys}: {error}");
    }
    let arrays: DataSource = "a.npy".parse().unwrap();
    assert!(arrays.with_schema(&schema(), LabelUse::Needed).unwrap_err().to_string().contains("CSV"));
}
