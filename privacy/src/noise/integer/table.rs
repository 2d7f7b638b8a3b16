//! The boxes under the curve, and how a word becomes a sample.

use super::SAMPLES;
use super::curve::{Curve, Point};

/// Bits of a word that name a box.
const BITS: u32 = 13;
const BOXES: usize = 1 << BITS;
/// Cells of the tails are this many bits wider than others, so that the curve falls by more than half from one to the next.
const TAIL_BITS: u32 = 3;
/// How far an upper and a lower bound on the curve are kept from its double, as a part of it.
const SAFE: f64 = 1.0 / (1_u64 << 40) as f64;

#[derive(Debug)]
pub(super) struct Table {
    pub(super) curve: Curve,
    /// b: a cell has 2^b integers.
    cell_bits: u32,
    /// Cells on either side of zero: what is beyond is tail.
    cells: i64,
    /// H: boxes that the peak is high.
    height: u32,
    /// By box: its cell, doubled, and one more unless it lies wholly under the curve.
    boxes: Box<[i16; BOXES]>,
    /// By box: how many boxes lie below it in its cell.
    level: Box<[u16; BOXES]>,
    /// By cell, from the lowest on.
    chords: Vec<Chord>,
}

/// H times the curve over one cell, roughly.
#[derive(Clone, Copy, Debug)]
struct Chord {
    /// At the cell's lowest integer.
    left: f64,
    /// From one integer to the next.
    slope: f64,
    /// More than the distance of curve and chord, and than all rounding.
    bend: f64,
}

impl Table {
    pub(super) fn new(curve: Curve) -> Self {
        let parameter = curve.parameter;
        let cell_bits = parameter.ilog2() - 4;
        // 4.25 parameters: there the curve is below half of the highest box of a tail, see `tail`.
        let cells = (17 * parameter).div_ceil(4 << cell_bits) as i64;
        let bounds: Vec<[f64; 2]> = (-cells..cells).map(|cell| bounds(&curve, cell, cell_bits)).collect();
        let height = highest(&bounds);
        let chords = (-cells..cells).map(|cell| chord(&curve, cell, cell_bits, height)).collect();
        let mut table = Self {
            curve,
            cell_bits,
            cells,
            height,
            boxes: Box::new([0; BOXES]),
            level: Box::new([0; BOXES]),
            chords,
        };
        table.fill(&bounds);
        table
    }

    /// Puts the boxes of all cells, one for either tail, and for the rest boxes of no cell, which are drawn in vain.
    fn fill(&mut self, bounds: &[[f64; 2]]) {
        let cells = self.cells;
        let in_cells = (-cells..cells).zip(bounds).flat_map(|(cell, &bounds)| {
            let [inside, all] = levels(bounds, self.height);
            (0..all).map(move |level| (2 * cell + i64::from(level >= inside), level))
        });
        let tails = [(2 * cells + 1, 0), (2 * (-cells - 1) + 1, 0)];
        let in_vain = std::iter::repeat((2 * (cells + 1) + 1, 0));
        let all = in_cells.chain(tails).chain(in_vain);
        for ((code, level), place) in all.zip(0..BOXES) {
            self.boxes[place] = i16::try_from(code).expect("at most 137 cells on either side");
            self.level[place] = u16::try_from(level).expect("levels are fewer than boxes");
        }
    }

    /// A sample of each word as if its box lay wholly under the curve; where it does not its place goes to `unsure`. Returns how many.
    #[inline(always)]
    pub(super) fn quick(&self, words: &[u64], samples: &mut [i64], unsure: &mut [u16; SAMPLES]) -> usize {
        let mut count = 0;
        for (place, (&word, sample)) in words.iter().zip(samples).enumerate() {
            let code = i64::from(self.boxes[box_of(word)]);
            *sample = self.integer(code >> 1, word);
            unsure[count % SAMPLES] = place as u16;
            count += (code & 1) as usize;
        }
        count
    }

    /// The sample of a word whatever its box is.
    pub(super) fn careful(&self, word: u64, more: &mut impl FnMut() -> u64) -> i64 {
        let mut word = word;
        loop {
            if let Some(sample) = self.attempt(word, more) {
                return sample;
            }
            word = more();
        }
    }

    /// None if the word's point lies above the curve.
    fn attempt(&self, word: u64, more: &mut impl FnMut() -> u64) -> Option<i64> {
        let place = box_of(word);
        let code = i64::from(self.boxes[place]);
        let cell = code >> 1;
        if code & 1 == 0 {
            return Some(self.integer(cell, word));
        }
        if cell > self.cells {
            return None;
        }
        if cell == self.cells || cell < -self.cells {
            return self.tail(cell < 0, more);
        }
        let point = Point {
            level: u32::from(self.level[place]),
            part: more(),
            height: self.height,
            doublings: 0,
            x: self.integer(cell, word).unsigned_abs(),
        };
        self.under(cell, word, point, more).then(|| self.integer(cell, word))
    }

    /// Whether a point is under the curve: by the chord if that is clear.
    fn under(&self, cell: i64, word: u64, point: Point, more: &mut impl FnMut() -> u64) -> bool {
        let chord = self.chords[(cell + self.cells) as usize];
        let curve = chord.left + chord.slope * self.within(word) as f64;
        let above = point.height_in_boxes() - curve;
        if above.abs() > chord.bend { above < 0.0 } else { self.curve.is_above(point, more) }
    }

    /// A sample beyond all cells. Tail cell j has 2⁻¹⁻ʲ of the box's area, on eight times the width: its points are below 1/(2^(j+4)·H), and
    /// the curve is lower still: e^(−4.25²/2) < 1/(16·H) at the beginning, and below 0.37 times as high a cell further.
    pub(super) fn tail(&self, negative: bool, more: &mut impl FnMut() -> u64) -> Option<i64> {
        let mut halvings = 0;
        loop {
            let word = more();
            halvings += word.leading_zeros();
            if word != 0 {
                break;
            }
        }
        let width_bits = self.cell_bits + TAIL_BITS;
        let place = more() & ((1 << width_bits) - 1);
        let y = ((self.cells as u64) << self.cell_bits) + (u64::from(halvings) << width_bits) + place;
        let sample = if negative { !(y as i64) } else { y as i64 };
        let point = Point {
            level: 0,
            part: more(),
            height: self.height,
            doublings: TAIL_BITS + 1 + halvings,
            x: sample.unsigned_abs(),
        };
        self.curve.is_above(point, more).then_some(sample)
    }

    /// The sum of the law's weights that one box stands for.
    #[cfg(test)]
    pub(super) fn mass_of_a_box(&self) -> f64 {
        f64::from(self.cell_bits).exp2() / f64::from(self.height)
    }

    #[inline(always)]
    fn integer(&self, cell: i64, word: u64) -> i64 {
        (cell << self.cell_bits) + self.within(word) as i64
    }

    /// The place in the cell.
    #[inline(always)]
    fn within(&self, word: u64) -> u64 {
        word >> BITS & ((1 << self.cell_bits) - 1)
    }
}

#[inline(always)]
fn box_of(word: u64) -> usize {
    (word % BOXES as u64) as usize
}

/// The least and the largest value of the curve in a cell, as doubles.
fn bounds(curve: &Curve, cell: i64, cell_bits: u32) -> [f64; 2] {
    let (first, last) = ends(cell, cell_bits);
    let [left, right] = [first, last].map(|x| curve.double(x.unsigned_abs()));
    [left.min(right), left.max(right)]
}

fn ends(cell: i64, cell_bits: u32) -> (i64, i64) {
    (cell << cell_bits, ((cell + 1) << cell_bits) - 1)
}

/// Boxes of a cell that are wholly under the curve, and boxes that are not wholly above it.
fn levels([least, largest]: [f64; 2], height: u32) -> [u32; 2] {
    let height = f64::from(height);
    let all = libm::ceil(height * largest * (1.0 + SAFE)).min(height);
    [libm::floor(height * least * (1.0 - SAFE)) as u32, all as u32]
}

/// The largest number of boxes for the peak with which all of them, and the two of the tails, find room.
fn highest(bounds: &[[f64; 2]]) -> u32 {
    let room = |height: u32| {
        bounds.iter().map(|&bounds| levels(bounds, height)[1] as usize).sum::<usize>() + 2 <= BOXES
    };
    (1..BOXES as u32).take_while(|&height| room(height)).last().expect("one box for each cell has room")
}

/// Linear interpolation between the ends of a cell, and its error: an eighth of the largest second derivative times the squared width.
fn chord(curve: &Curve, cell: i64, cell_bits: u32, height: u32) -> Chord {
    let (first, last) = ends(cell, cell_bits);
    let height = f64::from(height);
    let [left, right] = [first, last].map(|x| height * curve.double(x.unsigned_abs()));
    let steps = (last - first) as f64;
    let parameter = curve.parameter as f64;
    let steepest =
        [first, last].map(|x| ((x as f64 / parameter).powi(2) - 1.0).abs()).into_iter().fold(0.0, f64::max);
    let width = steps / parameter;
    Chord {
        left,
        slope: if steps > 0.0 { (right - left) / steps } else { 0.0 },
        bend: width * width / 8.0 * steepest * left.max(right) * 1.001 + curve.margin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_cover_the_curve_and_those_called_inside_are_under_it() {
        for parameter in [16, 17, 31, 32, 1000, 12_345, 1 << 40, super::super::IntegerNormal::LARGEST] {
            let table = Table::new(Curve::new(parameter));
            let mut levels = vec![Vec::new(); 2 * table.cells as usize];
            let mut tails = 0;
            for (&code, &level) in table.boxes.iter().zip(table.level.iter()) {
                let cell = i64::from(code) >> 1;
                if (-table.cells..table.cells).contains(&cell) {
                    levels[(cell + table.cells) as usize].push((level, code & 1 == 0));
                } else if cell <= table.cells {
                    tails += 1;
                }
            }
            assert_eq!(tails, 2, "{parameter}");
            for (cell, levels) in (-table.cells..).zip(levels) {
                let [least, largest] = bounds(&table.curve, cell, table.cell_bits);
                assert!(levels.iter().enumerate().all(|(i, level)| usize::from(level.0) == i));
                assert!(levels.len() as f64 >= f64::from(table.height) * largest * (1.0 - 1e-15));
                for (level, inside) in levels {
                    // Where the double cannot tell, a box counts as cut.
                    let least = f64::from(table.height) * least;
                    let under = |margin: f64| f64::from(level + 1) <= least * (1.0 + margin);
                    assert!(!inside || under(0.0), "parameter {parameter}, cell {cell}, level {level}");
                    assert!(inside || !under(-1e-11), "parameter {parameter}, cell {cell}, level {level}");
                }
            }
            let unsure = table.boxes.iter().filter(|&&code| code & 1 == 1).count();
            assert!(unsure < BOXES / 14, "{parameter}: {unsure}");
        }
    }

    #[test]
    fn the_boxes_of_the_tails_are_above_the_curve() {
        for parameter in [16, 17, 31, 33, 1000, 1 << 40] {
            let table = Table::new(Curve::new(parameter));
            for cell in 0..40_u32 {
                let begins = ((table.cells as u64) << table.cell_bits)
                    + (u64::from(cell) << (table.cell_bits + TAIL_BITS));
                let boxed = 1.0 / (f64::from(table.height) * f64::from(cell + 1 + TAIL_BITS).exp2());
                assert!(table.curve.double(begins) < boxed, "parameter {parameter}, cell {cell}");
            }
        }
    }

    #[test]
    fn the_chord_is_as_near_to_the_curve_as_it_says() {
        for parameter in [16, 63, 1000, 99_999] {
            let table = Table::new(Curve::new(parameter));
            for cell in -table.cells..table.cells {
                let chord = table.chords[(cell + table.cells) as usize];
                let (first, last) = ends(cell, table.cell_bits);
                for x in first..=last {
                    let curve = f64::from(table.height) * table.curve.double(x.unsigned_abs());
                    let distance = (chord.left + chord.slope * (x - first) as f64 - curve).abs();
                    assert!(
                        distance <= chord.bend - 0.99 * table.curve.margin,
                        "{parameter} {x}: {distance} {chord:?}"
                    );
                }
            }
        }
    }
}
