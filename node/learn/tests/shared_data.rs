//! The readers on real data sets, where the folder `../shared/data` beside the repository has them.
//! Expected counts are those of the sets' own descriptions.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a test")]

use std::path::PathBuf;

use learn::data::{DataSource, Dataset, ImageShape, Loaded, Task};
use learn::partition::PartitionSpec;

/// The file, or `None` with a line that says what is skipped.
fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn load(name: &str, keys: &str) -> Option<Loaded> {
    let path = shared(name)?;
    let source: DataSource = format!("{}{keys}", path.display()).parse().unwrap();
    Some(source.load(1).unwrap())
}

fn class_counts(data: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; data.classes().unwrap()];
    data.labels().unwrap().iter().for_each(|&label| counts[label as usize] += 1);
    counts
}

#[test]
fn adult_has_its_published_split_and_class_counts() {
    let categorical = "workclass+education+marital_status+occupation+relationship+race+sex+native_country";
    let keys = format!(":label=over50k,split=split,categorical={categorical},fill=0,scale=l2");
    let Some(loaded) = load("adult.csv.gz", &keys) else { return };
    let test = loaded.test.unwrap();
    assert_eq!((loaded.train.len(), test.len()), (32_561, 16_281));
    assert_eq!((class_counts(&loaded.train)[1], class_counts(&test)[1]), (7_841, 3_846));
    // 6 numbers and 8+16+7+14+6+5+2+41 categories (adult.names).
    assert_eq!(loaded.train.columns(), 6 + 99);
    // Unknown workclass: 1,836 records of the training part have no category.
    let names = loaded.train.feature_names().unwrap();
    let workclass: Vec<usize> = (0..names.len()).filter(|&i| names[i].starts_with("workclass=")).collect();
    let unknown = (0..loaded.train.len())
        .filter(|&record| workclass.iter().all(|&i| loaded.train.row(record)[i] == 0.0))
        .count();
    assert_eq!(unknown, 1_836);
}

#[test]
fn adult_without_a_rule_for_unknown_values_is_refused_at_its_first_gap() {
    let Some(path) = shared("adult.csv.gz") else { return };
    let keys = "label=over50k,split=split,features=age,categorical=workclass";
    let source: DataSource = format!("{}:{keys}", path.display()).parse().unwrap();
    let message = source.load(1).unwrap_err().to_string();
    // Line 28 of adult.data is the first with an unknown workclass.
    assert!(message.contains("row 28, column `workclass`"), "{message}");
}

#[test]
fn heart_disease_divides_by_hospital() {
    let Some(loaded) = load("heart_disease.csv.gz", ":label=num,above=0,id=hospital,fill=0") else { return };
    let data = loaded.train;
    assert_eq!((data.len(), data.columns()), (920, 13));
    assert_eq!(class_counts(&data)[1], 509);
    let spec: PartitionSpec = "natural".parse().unwrap();
    let assignment = spec.divide(&data, 4, 1).unwrap();
    assert_eq!(assignment.sizes(), [303, 294, 123, 200]);
    assert_eq!(
        [0, 1, 2, 3].map(|node| assignment.name(node)),
        ["cleveland", "hungarian", "switzerland", "va"]
    );
}

#[test]
fn parkinsons_divides_by_patient() {
    let keys = ":label=total_UPDRS,drop=motor_UPDRS,id=subject,target_bounds=0..176";
    let Some(loaded) = load("parkinsons_updrs.csv.gz", keys) else { return };
    let data = loaded.train;
    assert_eq!((data.len(), data.task()), (5_875, Task::Regression));
    let spec: PartitionSpec = "natural".parse().unwrap();
    assert_eq!(spec.own_nodes(&data), Some(42));
    let sizes = spec.divide(&data, 42, 1).unwrap().sizes();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&101), Some(&168)));
    assert!(data.reals().unwrap().iter().all(|value| (0.0..=1.0).contains(value)));
}

#[test]
fn houses_has_the_labels_of_openml() {
    let Some(loaded) = load("houses.csv.gz", ":label=y_openml823,drop=longitude+y_price_below_mean,scale=l2")
    else {
        return;
    };
    let data = loaded.train;
    assert_eq!((data.len(), data.columns()), (20_640, 8));
    assert_eq!(data.class_names().unwrap(), ["-1", "1"]);
    assert_eq!(class_counts(&data), [11_726, 8_914]);
}

#[test]
fn mnist_has_its_published_class_counts_and_writers() {
    let Some(folder) = shared("mnist") else { return };
    let source: DataSource = format!("mnist:{}", folder.display()).parse().unwrap();
    let loaded = source.load(1).unwrap();
    let test = loaded.test.unwrap();
    let train = loaded.train;
    assert_eq!((train.len(), test.len(), train.columns()), (60_000, 10_000, 784));
    assert_eq!(train.image_shape(), Some(ImageShape { height: 28, width: 28 }));
    assert_eq!(class_counts(&train), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
    assert_eq!(class_counts(&test), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    assert_eq!(train.group_names().unwrap().len(), 539);
    // The published mean and deviation of the pixels of the training set: 0.1307 and 0.3081.
    let sum: f64 = train.matrix().iter().map(|&x| f64::from(x)).sum();
    assert!((sum / 47_040_000.0 - 0.1307).abs() < 5e-5);
}

#[test]
fn fashion_mnist_without_its_training_half_says_what_to_do() {
    let Some(folder) = shared("fashion-mnist") else { return };
    let load =
        |keys: &str| format!("mnist:{}{keys}", folder.display()).parse::<DataSource>().unwrap().load(1);
    let data = load(":part=test").unwrap().train;
    assert_eq!(class_counts(&data), [1000; 10]);
    if !folder.join("train-images-idx3-ubyte.gz").exists() {
        assert!(load("").unwrap_err().to_string().contains("part=test"));
    }
}
