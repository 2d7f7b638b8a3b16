//! Whether a point is under e^(−x²/2s²): by a double, and by integers where its error bound leaves that open.

use super::exact;

/// How far, in boxes, the double of the curve and that of a point must be apart to be believed. The curve is at most 2⁹ boxes high where it is asked
/// for, and its double within 2⁻⁴⁵ of itself (x²/2s² is at most 64 and has three roundings; `exp` is good to one unit in the last place); the
/// point's double within 2⁻⁴⁴: in all below 2⁻³⁵. The rest is margin, which costs one comparison by integers in 5·10⁸ points.
const MARGIN: f64 = 1.0 / (1_u64 << 30) as f64;
/// x²/2s² beyond which no double is asked.
const FAR: f64 = 64.0;

/// e^(−x²/2s²).
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    /// s.
    pub(super) parameter: u64,
    /// [`MARGIN`]; tests make it larger, so that integers decide more often.
    pub(super) margin: f64,
}

/// A point above the integer x or −x: its height is (level + part/2⁶⁴ + less than 2⁻⁶⁴ that is not drawn yet) / (height·2^doublings).
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: u64,
    pub(super) level: u32,
    pub(super) part: u64,
    pub(super) height: u32,
    pub(super) doublings: u32,
}

impl Point {
    /// In boxes (of its cell), as a double.
    pub(super) fn height_in_boxes(&self) -> f64 {
        f64::from(self.level) + self.part as f64 * (1.0 / 18_446_744_073_709_551_616.0)
    }
}

impl Curve {
    pub(super) fn new(parameter: u64) -> Self {
        Self { parameter, margin: MARGIN }
    }

    /// The double.
    pub(super) fn double(&self, x: u64) -> f64 {
        let ratio = x as f64 / self.parameter as f64;
        libm::exp(-0.5 * ratio * ratio)
    }

    /// Whether the point is under the curve.
    pub(super) fn is_above(&self, point: Point, more: &mut impl FnMut() -> u64) -> bool {
        self.is_above_by_double(point).unwrap_or_else(|| exact::is_above(self, point, more))
    }

    /// None if the double cannot tell.
    pub(super) fn is_above_by_double(&self, point: Point) -> Option<bool> {
        let ratio = point.x as f64 / self.parameter as f64;
        let exponent = 0.5 * ratio * ratio;
        if exponent > FAR {
            return None;
        }
        // Multiplied by a power of two: no rounding. Doublings are few where the exponent is small.
        let curve =
            libm::ldexp(f64::from(point.height) * libm::exp(-exponent), point.doublings.min(1000) as i32);
        let above = point.height_in_boxes() - curve;
        (above.abs() > self.margin).then_some(above < 0.0)
    }
}
