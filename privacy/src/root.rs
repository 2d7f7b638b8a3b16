//! Bracketed roots of monotone functions, with both ends of the final bracket.
//!
//! Accounting must round losses up, so a caller gets the two neighbours of the root and takes the safe
//! one. Method: a secant step pushed towards the middle, so that both ends move, with plain bisection at
//! every third step, so that the worst case is three times bisection.

/// Narrows `[low, high]` with `f(low) > 0 ≥ f(high)` (or the reverse) around a sign change of `f`.
///
/// Returns `(low, high)` with the same invariant and `high − low ≤ tolerance·|middle|` or neighbouring
/// floats. `f(low)` keeps its sign exactly, so a caller that needs `f ≤ 0` takes the end that has it.
#[must_use]
pub fn narrow(mut low: f64, mut high: f64, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> (f64, f64) {
    let (mut f_low, mut f_high) = (f(low), f(high));
    let rising = f_low <= 0.0;
    for step in 0..400 {
        let width = high - low;
        let middle = low + 0.5 * width;
        if width <= tolerance * middle.abs() || middle <= low || middle >= high {
            break;
        }
        // Secant first; every third step plain bisection, so that a bad fit cannot stall the bracket.
        let at = if step % 3 == 2 { middle } else { secant(low, high, f_low, f_high, tolerance) };
        let value = f(at);
        if (value > 0.0) == rising {
            (high, f_high) = (at, value);
        } else {
            (low, f_low) = (at, value);
        }
    }
    (low, high)
}

/// The secant point, pushed a little towards the middle so that both ends of the bracket move.
fn secant(low: f64, high: f64, f_low: f64, f_high: f64, tolerance: f64) -> f64 {
    let width = high - low;
    let middle = low + 0.5 * width;
    let point = (high * f_low - low * f_high) / (f_low - f_high);
    if !point.is_finite() {
        return middle;
    }
    let push = (0.4 * tolerance * middle.abs()).max(0.1 * width * width / (middle.abs() + width));
    let pushed = if point < middle { (point + push).min(middle) } else { (point - push).max(middle) };
    if pushed > low && pushed < high { pushed } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_keep_their_sign_and_enclose_the_root() {
        let (low, high) = narrow(0.0, 10.0, 1e-14, |x| x * x - 2.0);
        assert!(low * low <= 2.0 && high * high > 2.0 && high - low < 1e-13, "{low} {high}");
        let (low, high) = narrow(1e-9, 1e9, 1e-14, |x| 1.0 / x - 3.0);
        assert!(1.0 / low > 3.0 && 1.0 / high <= 3.0 && high - low < 1e-13, "{low} {high}");
    }

    #[test]
    fn a_step_function_is_bracketed_to_neighbouring_floats() {
        let (low, high) = narrow(0.0, 1.0, 0.0, |x| if x < 0.3 { -1.0 } else { 1.0 });
        assert_eq!(high, 0.3);
        assert_eq!(low.next_up(), high);
    }
}
