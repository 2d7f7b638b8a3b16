//! Images that are turned, for nodes whose cameras stand differently.

use super::dataset::Dataset;
use super::error::DataError;

/// The same records with the image of record `i` turned clockwise by a right angle `times(i)` times.
///
/// # Errors
/// Records that are no square images.
pub fn turned(data: &Dataset, times: impl Fn(usize) -> usize) -> Result<Dataset, DataError> {
    let side = match data.image_shape() {
        Some(shape) if shape.height == shape.width => shape.width,
        shape => {
            return Err(DataError::BadParameter {
                name: "turned",
                value: shape.map_or("no images".into(), |shape| format!("{}×{}", shape.height, shape.width)),
                why: "only square images can be turned".into(),
            });
        }
    };
    let mut record = 0;
    data.clone().map_rows(|row| {
        for _ in 0..times(record) % 4 {
            let before = row.to_vec();
            for (place, pixel) in row.iter_mut().enumerate() {
                let (line, column) = (place / side, place % side);
                *pixel = before[(side - 1 - column) * side + line];
            }
        }
        record += 1;
    })
}

#[cfg(test)]
mod tests {
    use super::super::dataset::{ImageShape, Targets};
    use super::*;

    #[test]
    fn a_right_angle_moves_the_upper_left_corner_to_the_upper_right() {
        let image = Dataset::new(vec![1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0], 4, Targets::None).unwrap();
        assert!(turned(&image, |_| 1).is_err());
        let image = image.with_image_shape(ImageShape { height: 2, width: 2 }).unwrap();
        let once = turned(&image, |record| record).unwrap();
        assert_eq!((once.row(0), once.row(1)), (&[1.0, 2.0, 3.0, 4.0][..], &[3.0, 1.0, 4.0, 2.0][..]));
        assert_eq!(turned(&image, |_| 4).unwrap(), image);
    }
}
