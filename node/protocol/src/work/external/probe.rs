//! Questions that a trainer of rows answers alike whatever else is asked with them: a row is to depend on its record alone.
//!
//! BatchNorm mixes the rows of a batch, dropout that ignores the seed and hidden state mix rounds. Probes find accidents, not a trainer that
//! wants to deceive: one that knows it is being watched can behave.

use privacy::clip::ClipNorm;

use super::Trainer;
use super::frame::Ask;
use super::hello::Kind;
use super::trouble::Trouble;

/// How far answers for one record may be apart, relative to their norm: orders of sums differ, and single precision rounds.
pub const TOLERANCE: f64 = 1e-4;
/// Rows shorter than this part of the clip norm count as so long: what is left of a gradient that has almost vanished is rounding, of which 8·10⁻⁷ of the clip norm were seen late in
/// the training of a sound trainer. Long rows may be apart by 10⁻⁴ of the clip norm after clipping, so this lets nothing through that moves a sum by more than they may.
const SHORTEST: f64 = 0.03;
/// Records of a probe.
const RECORDS: usize = 8;
/// Those that are asked for one by one.
const ALONE: usize = 4;
/// Bytes of rows that a probe holds.
const MOST_BYTES: usize = 64 << 20;

/// How a question is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// The very same one.
    Twice,
    /// The records in another order.
    Permuted,
    /// In two parts.
    Split,
    /// Records one by one.
    Alone,
    /// `sum` of single records and of all of them: what the norms and the factors say.
    Sums,
}

impl Probe {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Twice => "twice",
            Self::Permuted => "permuted",
            Self::Split => "split",
            Self::Alone => "alone",
            Self::Sums => "sums",
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Twice => {
                "the same question must have the same answer: no state from round to round, and whatever is drawn (dropout) comes from the job's `seed`"
            }
            Self::Permuted | Self::Split | Self::Alone => {
                "a row may depend on its own record only: no BatchNorm (GroupNorm or LayerNorm instead), no draws by position in the batch; or protect whole nodes, where anything goes: `privacy.adjacency = \"node\"`"
            }
            Self::Sums => "`sum` is Σ factor · row, with the rows whose norms were told",
        }
    }
}

/// What a probe needs besides the trainer.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The round.
    pub round: u32,
    /// The seed, of the questions and of the choice of records.
    pub seed: u64,
    /// The model.
    pub params: &'a [f32],
    /// What rows are clipped to: it says which differences matter.
    pub clip: ClipNorm,
}

impl Occasion<'_> {
    fn shortest(&self) -> f64 {
        SHORTEST * self.clip.value()
    }
}

/// Asks about some records in several ways. At node level there is nothing to ask: any update will do.
///
/// # Errors
/// Answers that are apart, or none.
pub fn probe(trainer: &mut dyn Trainer, kind: Kind, occasion: Occasion<'_>) -> Result<(), Trouble> {
    let Occasion { round, seed, params, .. } = occasion;
    let width = match kind {
        Kind::Update => return Ok(()),
        Kind::Rows => params.len(),
        Kind::Norms | Kind::Sum => 1,
    };
    let kind = if kind == Kind::Sum { Kind::Norms } else { kind };
    let records = chosen(trainer.hello().records, seed, (MOST_BYTES / (4 * width)).clamp(2, RECORDS));
    let mut ask = |records: &[u32]| {
        let asked = Ask { kind, round, seed, records, params, factors: &[] };
        trainer.answer(&asked).map(|answer| answer.numbers)
    };
    let first = ask(&records)?;
    let same = |probe, again: &[f32], expected: &[f32]| {
        compare(probe, (again, expected), width, occasion.shortest())
    };
    same(Probe::Twice, &ask(&records)?, &first)?;
    let backwards: Vec<u32> = records.iter().rev().copied().collect();
    let mut turned = ask(&backwards)?;
    turn(&mut turned, width);
    same(Probe::Permuted, &turned, &first)?;
    let (left, right) = records.split_at(records.len() / 2);
    for (part, from) in [(left, 0), (right, left.len())].into_iter().filter(|(part, _)| !part.is_empty()) {
        same(Probe::Split, &ask(part)?, &first[from * width..][..part.len() * width])?;
    }
    for (at, record) in records.iter().enumerate().take(ALONE) {
        same(Probe::Alone, &ask(&[*record])?, &first[at * width..][..width])?;
    }
    if kind == Kind::Norms { sums(trainer, occasion, &records, &first) } else { Ok(()) }
}

/// Sums of single records have the length that their norms say, and add up.
fn sums(
    trainer: &mut dyn Trainer,
    occasion: Occasion<'_>,
    records: &[u32],
    norms: &[f32],
) -> Result<(), Trouble> {
    let (Occasion { round, seed, params, .. }, shortest) = (occasion, occasion.shortest());
    let mut ask = |records: &[u32], factors: &[f32]| {
        let asked = Ask { kind: Kind::Sum, round, seed, records, params, factors };
        trainer.answer(&asked).map(|answer| answer.numbers)
    };
    let records = &records[..records.len().min(ALONE)];
    let factors: Vec<f32> = (0..records.len()).map(|at| 1.0 / (at + 1) as f32).collect();
    let mut total = vec![0.0_f32; params.len()];
    for ((record, factor), norm) in records.iter().zip(&factors).zip(norms) {
        let one = ask(&[*record], &[*factor])?;
        let length = length(&one) as f32;
        compare(Probe::Sums, (&[length], &[norm * factor]), 1, shortest)?;
        total.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
    }
    compare(Probe::Sums, (&ask(records, &factors)?, &total), params.len(), shortest)
}

/// Different records, all over the place.
fn chosen(records: u32, seed: u64, most: usize) -> Vec<u32> {
    let count = most.min(records as usize) as u64;
    let part = u64::from(records) / count.max(1);
    (0..count).map(|at| (at * part + seed.rotate_right(7 * at as u32) % part.max(1)) as u32).collect()
}

fn turn(rows: &mut [f32], width: usize) {
    let count = rows.len() / width;
    for at in 0..count / 2 {
        let (head, tail) = rows.split_at_mut((count - 1 - at) * width);
        head[at * width..][..width].swap_with_slice(&mut tail[..width]);
    }
}

/// Rows that hold no numbers are nothing, and equal each other.
fn compare(
    probe: Probe,
    (found, expected): (&[f32], &[f32]),
    width: usize,
    shortest: f64,
) -> Result<(), Trouble> {
    for (left, right) in found.chunks_exact(width).zip(expected.chunks_exact(width)) {
        let (left_length, right_length) = (length(left), length(right));
        if !left_length.is_finite() && !right_length.is_finite() {
            continue;
        }
        let apart =
            left.iter().zip(right).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt();
        let off = apart / left_length.max(right_length).max(shortest);
        if !(apart == 0.0 || off <= TOLERANCE) {
            return Err(Trouble::Probe { probe, off, most: TOLERANCE });
        }
    }
    Ok(())
}

fn length(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_records_are_different_and_exist() {
        for records in [1, 2, 3, 7, 8, 9, 1000, u32::MAX] {
            for seed in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
                let mut found = chosen(records, seed, 8);
                assert!(found.iter().all(|&record| record < records), "{records} {found:?}");
                let count = found.len();
                found.dedup();
                assert_eq!((found.len(), count), (count, (records as usize).min(8)));
            }
        }
    }

    #[test]
    fn rows_agree_to_a_part_of_their_norm_and_short_ones_to_a_part_of_the_clip_norm() {
        let off = |found: f32, expected: f32| {
            compare(Probe::Alone, (&[found, 0.0], &[expected, 0.0]), 2, SHORTEST).err()
        };
        assert_eq!(off(1.00005, 1.0), None);
        assert!(off(1.0002, 1.0).is_some() && off(50.01, 50.0).is_some());
        // Of a thousandth of the clip norm single precision leaves less than four digits: 8·10⁻⁴ of it is 8·10⁻⁷ of the clip norm.
        assert_eq!(off(0.001 * 1.0008, 0.001), None);
        // What mixes records is off by a part of the row, however short.
        assert!(off(0.0005, 0.001).is_some() && off(f32::NAN, 0.001).is_some());
        assert_eq!(off(f32::NAN, f32::INFINITY), None);
    }

    #[test]
    fn rows_are_turned_whole() {
        let mut rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        turn(&mut rows, 2);
        assert_eq!(rows, [5.0, 6.0, 3.0, 4.0, 1.0, 2.0]);
    }
}
