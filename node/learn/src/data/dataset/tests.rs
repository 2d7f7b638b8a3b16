use super::*;

fn small() -> Dataset {
    let targets = Targets::Class { labels: vec![0, 1, 1], classes: 2 };
    Dataset::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, targets).unwrap()
}

#[test]
fn a_subset_of_a_subset_counts_in_the_subset() {
    let last_two = small().subset(&[1, 2]);
    let last = last_two.subset(&[1, 1]);
    assert_eq!((last.len(), last.row(0), last.target(1)), (2, &[5.0, 6.0][..], Target::Class(1)));
    assert_eq!(last_two.labels().unwrap().as_ref(), [1, 1]);
    assert_eq!(last.matrix(), ndarray::arr2(&[[5.0, 6.0], [5.0, 6.0]]));
}

#[test]
fn subsets_share_the_table_until_they_are_compacted() {
    let all = small();
    let part = all.subset(&[2]);
    assert!(std::ptr::eq(part.row(0), all.row(2)));
    assert!(!std::ptr::eq(part.compact().row(0), all.row(2)));
    assert_eq!(part.compact().row(0), all.row(2));
}

#[test]
fn rows_change_in_place_unless_the_table_is_shared() {
    let double = |row: &mut [f32]| row.iter_mut().for_each(|value| *value *= 2.0);
    let data = small();
    let before = data.row(0).as_ptr();
    let alone = data.map_rows(double).unwrap();
    assert_eq!((alone.row(0), alone.row(0).as_ptr()), (&[2.0, 4.0][..], before));
    let shared = alone.clone();
    assert_eq!(alone.map_rows(double).unwrap().row(0), [4.0, 8.0]);
    assert_eq!(shared.row(0), [2.0, 4.0]);
}

#[test]
fn a_label_outside_the_classes_is_refused_with_its_row() {
    let made = Dataset::new(vec![1.0, 2.0], 1, Targets::Class { labels: vec![0, 5], classes: 3 });
    let message = made.unwrap_err().to_string();
    assert!(message.contains("row 2") && message.contains("`5`") && message.contains("0 to 2"), "{message}");
}

#[test]
fn values_that_are_not_finite_are_refused_with_their_cell() {
    let made = Dataset::new(vec![1.0, 2.0, 3.0, f32::NAN], 2, Targets::None);
    let message = made.unwrap_err().to_string();
    assert!(message.contains("row 2") && message.contains("column `1`"), "{message}");
    assert!(Dataset::new(vec![1.0], 1, Targets::Real(vec![f32::INFINITY])).is_err());
}

#[test]
fn arrays_of_different_length_are_refused() {
    assert!(Dataset::new(vec![1.0; 5], 2, Targets::None).is_err());
    assert!(Dataset::new(vec![1.0; 4], 2, Targets::Real(vec![0.0])).is_err());
    assert!(small().with_image_shape(ImageShape { height: 2, width: 2 }).is_err());
    assert!(small().with_feature_names(vec!["one".into()]).is_err());
}
