//! Answers on one line, for logs, reports and tables.

use super::{Answer, Answers, Figure};
use crate::plan::QuestionPlan;

/// Significant digits of a half-width.
const DIGITS: i32 = 2;

/// Figures that one line has; how many more there are is said behind them.
const MOST: usize = 12;

impl Answer {
    /// `53.5 ± 5.6`, `258 (246 to 282)` where the interval is not even, why there is nothing, or how many figures there are.
    #[must_use]
    pub fn in_words(&self) -> String {
        let (
            Some(Figure::Number(value)),
            Some(Figure::Number(low)),
            Some(Figure::Number(high)),
            Some(Figure::Number(raw)),
        ) = (&self.value, &self.low, &self.high, &self.raw)
        else {
            let figures = self.value.as_ref().map(|figure| format!("{} figures", figure.numbers().len()));
            return self.note.clone().or(figures).unwrap_or_else(|| "–".into());
        };
        let half = (high - low) / 2.0;
        let is_even = ((raw - low) - half).abs() <= 1e-6 * half.abs().max(1e-12);
        let decimals = decimals(half);
        if is_even && !self.more.contains_key("half_width_in_records") {
            return format!("{value:.decimals$} ± {half:.decimals$}");
        }
        format!("{value:.decimals$} ({low:.decimals$} to {high:.decimals$})")
    }
}

/// All answers on one line: `f: count(*) 927 ± 20, mean(age) 55.08 ± 0.96; m: …`.
#[must_use]
pub fn in_words(plan: &QuestionPlan, answers: &Answers) -> String {
    let mut left = MOST;
    let mut lines = Vec::new();
    for line in &answers.lines {
        let shown = line.answers.iter().zip(&plan.question.aggregates).take(left);
        let figures: Vec<String> =
            shown.map(|(answer, asked)| format!("{} {}", asked.written, answer.in_words())).collect();
        left -= figures.len();
        if !figures.is_empty() {
            let group =
                if line.group.is_empty() { String::new() } else { format!("{}: ", line.group.join(", ")) };
            lines.push(group + &figures.join(", "));
        }
    }
    let all: usize = answers.lines.iter().map(|line| line.answers.len()).sum();
    if all > MOST {
        lines.push(format!("and {} more", all - MOST));
    }
    lines.join("; ")
}

/// Digits behind the point that show a half-width with two significant ones.
fn decimals(half: f64) -> usize {
    if !(half > 0.0 && half.is_finite()) {
        return 2;
    }
    (DIGITS - 1 - libm::log10(half).floor() as i32).clamp(0, 9) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, half: f64) -> Answer {
        let figure = |x: f64| Some(Figure::Number(x));
        Answer {
            value: figure(value),
            raw: figure(value),
            low: figure(value - half),
            high: figure(value + half),
            ..Answer::default()
        }
    }

    #[test]
    fn figures_have_as_many_digits_as_their_error_allows() {
        assert_eq!([decimals(5.6), decimals(18.0), decimals(0.011), decimals(f64::NAN)], [1, 0, 3, 2]);
        assert_eq!(number(53.521, 5.64).in_words(), "53.5 ± 5.6");
        let uneven = Answer { high: Some(Figure::Number(282.0)), ..number(258.0, 12.0) };
        assert_eq!(uneven.in_words(), "258 (246 to 282)");
        assert_eq!(Answer::none("too few").in_words(), "too few");
        let list = Answer { value: Some(Figure::List(vec![1.0, 2.0])), ..Answer::default() };
        assert_eq!((list.in_words(), Answer::default().in_words()), ("2 figures".into(), "–".into()));
    }
}
