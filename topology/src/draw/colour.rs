//! Values to colours: an approximation of viridis (perceptually even, readable by the colour-blind, and visible on
//! light and dark), on a linear or a logarithmic scale.

use super::Colouring;

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal steps of the value are equal steps of colour.
    #[default]
    Linear,
    /// Equal factors of the value are equal steps of colour.
    Logarithmic,
}

/// Nine anchors of viridis (S. van der Walt, N. Smith, matplotlib), without its near-black start.
const ANCHORS: [[u8; 3]; 9] = [
    [72, 40, 120],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [94, 201, 98],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour at `share` of the way from the lowest to the highest value, as `#rrggbb`.
pub fn colour_at(share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let along = share * (ANCHORS.len() - 1) as f64;
    let below = (along as usize).min(ANCHORS.len() - 2);
    let rest = along - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (f64::from(ANCHORS[below][channel]), f64::from(ANCHORS[below + 1][channel]));
        (a + (b - a) * rest).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Lowest and highest value that can be shown.
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    scale: Scale,
}

impl Range {
    pub(super) fn of(colouring: &Colouring<'_>) -> Self {
        let scale = colouring.scale;
        let shown = || colouring.values.iter().copied().filter(|&value| is_shown(value, scale));
        let low = shown().fold(f64::INFINITY, f64::min);
        let high = shown().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = colouring.ends.map_or((low, high), |(first, last)| (first, high.max(last)));
        if low <= high { Self { low, high, scale } } else { Self { low: 0.0, high: 0.0, scale } }
    }

    /// Where a value stands between lowest and highest; none where it cannot be shown.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        if !is_shown(value, self.scale) {
            return None;
        }
        let on_scale = |v: f64| if self.scale == Scale::Logarithmic { libm::log(v) } else { v };
        let (low, high) = (on_scale(self.low), on_scale(self.high));
        Some(if high > low { (on_scale(value) - low) / (high - low) } else { 0.5 })
    }

    /// The value at a share of the scale.
    pub(super) fn value_at(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.low + share * (self.high - self.low),
            Scale::Logarithmic if self.low > 0.0 => self.low * libm::pow(self.high / self.low, share),
            Scale::Logarithmic => self.low,
        }
    }
}

fn is_shown(value: f64, scale: Scale) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// A number for people: three significant digits, rounded up, because privacy losses are drawn with it.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-3..1e5).contains(&size) {
        let digits = 2 - libm::floor(libm::log10(size)) as i32;
        return format!("{:.2e}", at_least(value, digits));
    }
    // How many decimals it takes to show three digits: none from 100 on, one more for every power of ten below.
    let decimals = (0..5).find(|&decimals| size * libm::pow(10.0, f64::from(decimals)) >= 99.95).unwrap_or(5);
    let text = format!("{:.*}", decimals as usize, at_least(value, decimals));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The smallest number of so many decimals that is not below the value, but for the last bits of the value.
fn at_least(value: f64, decimals: i32) -> f64 {
    let scale = libm::pow(10.0, f64::from(decimals));
    let scaled = value * scale;
    if !scaled.is_finite() {
        return value;
    }
    let whole = libm::round(scaled);
    let up = if (scaled - whole).abs() <= 1e-12 * scaled.abs() { whole } else { libm::ceil(scaled) };
    up / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_scale_are_the_ends_of_the_colours() {
        assert_eq!((colour_at(0.0).as_str(), colour_at(1.0).as_str()), ("#482878", "#fde725"));
        assert_eq!(colour_at(f64::NAN), colour_at(0.0));
        assert_eq!(colour_at(7.0), colour_at(1.0));
    }

    #[test]
    fn equal_factors_are_equal_steps_on_the_logarithmic_scale() {
        let colouring =
            Colouring { values: &[0.01, 1.0, 100.0], ends: None, legend: "x", scale: Scale::Logarithmic };
        let range = Range::of(&colouring);
        assert!((range.share(1.0).unwrap() - 0.5).abs() < 1e-12);
        assert!((range.value_at(0.25) - 0.1).abs() < 1e-12);
        assert_eq!(range.share(-1.0), None);
    }

    #[test]
    fn numbers_for_people_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (0.19371, "0.194"),
            (0.19311, "0.194"),
            (1234.5, "1235"),
            (12.34, "12.4"),
            (4.3501, "4.36"),
            (1.501e-7, "1.51e-7"),
            (1.5e-7, "1.50e-7"),
            (3.0, "3"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
