//! Data sets inside the program, so that everything can be tried without a file.
//!
//! Sources and licences (CC BY 4.0) are in `data/NOTICE.md`.

use super::csv::{self, CsvOptions, TargetKind};
use super::dataset::{Dataset, ImageShape};
use super::error::DataError;
use super::input::Input;
use super::scaling::{Bounds, Scaling};

const DIGITS: Input = Input::Embedded { name: "digits", bytes: include_bytes!("../../data/digits.csv.gz") };

const BREAST_CANCER: Input =
    Input::Embedded { name: "breast-cancer", bytes: include_bytes!("../../data/breast_cancer.csv.gz") };

/// Pixels of `digits` count black dots in a 4×4 block, so their bounds belong to the format.
const DIGITS_BOUNDS: Bounds = Bounds { low: 0.0, high: 16.0 };

/// Upper bounds of the thirty features of `breast-cancer`, rounded up from the ranges of the set, which is public; the
/// lower bounds are 0. With data of one's own they must come from knowledge of the field, not from the data.
const BREAST_CANCER_BOUNDS: [f32; 30] = [
    30.0, 40.0, 200.0, 2600.0, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1, // means
    3.0, 5.0, 22.0, 550.0, 0.04, 0.15, 0.4, 0.06, 0.08, 0.03, // standard errors
    40.0, 50.0, 260.0, 4300.0, 0.25, 1.1, 1.3, 0.3, 0.7, 0.25, // worst
];

/// Handwritten digits (UCI optdigits, test part): 1,797 images of 8×8 pixels, ten classes, pixels in units 0..1.
///
/// E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998,
/// CC BY 4.0.
pub fn digits() -> Dataset {
    let raw = digits_raw().expect("the embedded file is tested");
    Scaling::Units(DIGITS_BOUNDS).apply(raw).expect("the bounds are in order")
}

/// Breast cancer Wisconsin (diagnostic): 569 records of 30 features in units 0..1, class 1 is benign.
///
/// W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast Cancer Wisconsin (Diagnostic), UCI Machine Learning
/// Repository, 1993, CC BY 4.0.
pub fn breast_cancer() -> Dataset {
    let raw = breast_cancer_raw().expect("the embedded file is tested");
    let bounds = BREAST_CANCER_BOUNDS.map(|high| Bounds { low: 0.0, high }).to_vec();
    Scaling::UnitsPerFeature(bounds).apply(raw).expect("there are thirty bounds in order")
}

pub(crate) fn digits_raw() -> Result<Dataset, DataError> {
    let options = CsvOptions { target: TargetKind::Classes(10), ..CsvOptions::labelled("label") };
    csv::read_input(&DIGITS, &options)?
        .train
        .with_image_shape(ImageShape { height: 8, width: 8 })?
        .with_class_names((0..10).map(|digit| digit.to_string()).collect())
}

pub(crate) fn breast_cancer_raw() -> Result<Dataset, DataError> {
    let options = CsvOptions { target: TargetKind::Classes(2), ..CsvOptions::labelled("benign") };
    csv::read_input(&BREAST_CANCER, &options)?
        .train
        .with_class_names(vec!["malignant".into(), "benign".into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_counts(data: &Dataset) -> Vec<usize> {
        let mut counts = vec![0; data.classes().unwrap()];
        data.labels().unwrap().iter().for_each(|&label| counts[label as usize] += 1);
        counts
    }

    #[test]
    fn digits_has_the_published_size_and_class_counts() {
        let data = digits();
        assert_eq!((data.len(), data.columns(), data.classes()), (1797, 64, Some(10)));
        // UCI optdigits.names, class distribution of the test part.
        assert_eq!(class_counts(&data), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        assert!((0..data.len()).all(|i| data.row(i).iter().all(|v| (0.0..=1.0).contains(v))));
        // The first line of the file: 0,0,5,13,9,1,… in sixteenths.
        assert_eq!(&data.row(0)[..6], [0.0, 0.0, 5.0 / 16.0, 13.0 / 16.0, 9.0 / 16.0, 1.0 / 16.0]);
    }

    #[test]
    fn breast_cancer_has_357_benign_of_569_records_and_no_value_is_cut_by_its_bounds() {
        let data = breast_cancer();
        assert_eq!((data.len(), data.columns()), (569, 30));
        assert_eq!(class_counts(&data), [212, 357]);
        let raw = breast_cancer_raw().unwrap();
        for i in 0..raw.len() {
            assert!(raw.row(i).iter().zip(BREAST_CANCER_BOUNDS).all(|(value, high)| *value <= high));
        }
    }
}
