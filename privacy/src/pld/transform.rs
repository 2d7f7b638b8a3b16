//! Fourier transforms of long windows in which little is nonzero: few masses before, few lines after the spectrum was raised to a power.
//!
//! A long transform spends most of its time on tables of sines and on memory. Split into short ones (Gentleman and Sande's four steps) the
//! tables fit the cache; and where only the lowest lines are left, every R-th point of the law is a short transform of its own.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;
use rustfft::FftPlanner;
use std::f64::consts::TAU;

/// Windows below this are transformed at once.
const SHORT: usize = 1 << 14;

/// A rotation is a product of at most so many rotations, each rounded once, before it is made anew.
const REFRESHED: usize = 8;

/// Points of the law that are written together: a line of the cache.
const TOGETHER: usize = 8;

/// Lines 0 to size/2 of masses at indices modulo `size`.
pub(super) fn forward(masses: &[(usize, f64)], size: usize) -> Vec<Complex64> {
    if size < SHORT {
        return at_once(masses, size);
    }
    let across = 1 << (size.ilog2() / 2);
    let down = size / across;
    let columns = columns(masses, across, down);
    let mut lines = vec![Complex64::default(); size / 2 + 1];
    let plan = FftPlanner::new().plan_fft_forward(across);
    let mut scratch = vec![Complex64::default(); plan.get_inplace_scratch_len()];
    let mut row = vec![Complex64::default(); across];
    for (first, values) in columns.chunks_exact(across).enumerate() {
        row.copy_from_slice(values);
        plan.process_with_scratch(&mut row, &mut scratch);
        for (step, &value) in row.iter().enumerate() {
            let line = first + step * down;
            // Of real masses: a line beyond the middle is the conjugate of its mirror image.
            if line <= size / 2 {
                lines[line] = value;
            } else {
                lines[size - line] = value.conj();
            }
        }
    }
    lines
}

fn at_once(masses: &[(usize, f64)], size: usize) -> Vec<Complex64> {
    let forward = RealFftPlanner::<f64>::new().plan_fft_forward(size);
    let (mut buffer, mut lines) = (forward.make_input_vec(), forward.make_output_vec());
    masses.iter().for_each(|&(at, mass)| buffer[at] += mass);
    forward.process(&mut buffer, &mut lines).expect("buffers come from the plan");
    lines
}

/// Transforms of every `across`-th mass, turned by their place: a row for each line up to down/2, a column for each place.
fn columns(masses: &[(usize, f64)], across: usize, down: usize) -> Vec<Complex64> {
    let mut columns = vec![Complex64::default(); (down / 2 + 1) * across];
    let forward = RealFftPlanner::<f64>::new().plan_fft_forward(down);
    let (mut buffer, mut lines) = (forward.make_input_vec(), forward.make_output_vec());
    let mut by_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); across];
    masses.iter().for_each(|&(at, mass)| by_place[at % across].push((at / across, mass)));
    for (place, own) in by_place.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        buffer.fill(0.0);
        own.iter().for_each(|&(at, mass)| buffer[at] += mass);
        forward.process(&mut buffer, &mut lines).expect("buffers come from the plan");
        let turn = -TAU * place as f64 / (across * down) as f64;
        let rotations = Rotations::new(turn);
        let column = columns[place..].iter_mut().step_by(across);
        column.zip(&lines).zip(rotations).for_each(|((to, line), rotation)| *to = line * rotation);
    }
    columns
}

/// The law of `size` points whose lines 0 to size/2 are these, most of which may be zero.
pub(super) fn inverse(lines: &mut [Complex64], size: usize) -> Vec<f64> {
    let used = lines.iter().rposition(|line| *line != Complex64::default()).map_or(1, |last| last + 1);
    let mut apart = 1;
    while (size / apart).is_multiple_of(2) && size / (2 * apart) >= (2 * used).max(64) {
        apart *= 2;
    }
    let mut planner = RealFftPlanner::<f64>::new();
    let inverse = planner.plan_fft_inverse(size / apart);
    if apart < TOGETHER {
        let inverse = planner.plan_fft_inverse(size);
        let mut law = inverse.make_output_vec();
        inverse.process(lines, &mut law).expect("buffers come from the plan");
        return law;
    }
    let mut law = vec![0.0; size];
    let mut rotations: Vec<Rotations> =
        (0..used).map(|line| Rotations::new(TAU * line as f64 / size as f64)).collect();
    let (mut spectrum, mut points) = (inverse.make_input_vec(), inverse.make_output_vec());
    let mut beside = vec![[0.0; TOGETHER]; size / apart];
    for first in (0..apart).step_by(TOGETHER) {
        for at in 0..TOGETHER {
            spectrum.fill(Complex64::default());
            for ((to, line), rotation) in spectrum.iter_mut().zip(&lines[..used]).zip(&mut rotations) {
                *to = line * rotation.next().expect("rotations do not end");
            }
            spectrum[0].im = 0.0;
            inverse.process(&mut spectrum, &mut points).expect("buffers come from the plan");
            beside.iter_mut().zip(&points).for_each(|(beside, point)| beside[at] = *point);
        }
        for (place, beside) in beside.iter().enumerate() {
            law[place * apart + first..][..TOGETHER].copy_from_slice(beside);
        }
    }
    law
}

/// e^{i·0·turn}, e^{i·1·turn}, …
struct Rotations {
    turn: f64,
    step: Complex64,
    now: Complex64,
    done: usize,
}

impl Rotations {
    fn new(turn: f64) -> Self {
        Self { turn, step: rotation(turn), now: Complex64::new(1.0, 0.0), done: 0 }
    }
}

impl Iterator for Rotations {
    type Item = Complex64;

    fn next(&mut self) -> Option<Complex64> {
        if self.done.is_multiple_of(REFRESHED) {
            self.now = rotation(self.turn * self.done as f64);
        } else {
            self.now *= self.step;
        }
        self.done += 1;
        Some(self.now)
    }
}

fn rotation(turn: f64) -> Complex64 {
    let (sine, cosine) = libm::sincos(turn);
    Complex64::new(cosine, sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masses(size: usize, count: usize) -> Vec<(usize, f64)> {
        (0..count).map(|i| ((i * i * 7919 + i) % size, 1.0 / (1.0 + i as f64))).collect()
    }

    #[test]
    fn short_steps_give_the_lines_of_the_long_transform() {
        for size in [SHORT, 3 * SHORT / 2, 3 * SHORT, 1 << 17] {
            for count in [1, 40, 2000] {
                let masses = masses(size, count);
                let total: f64 = masses.iter().map(|(_, mass)| mass).sum();
                let lines = forward(&masses, size);
                let expected = at_once(&masses, size);
                assert_eq!(lines.len(), expected.len());
                let worst = lines.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                assert!(worst < 2e-15 * total, "{count} masses of {size}: {worst:e}");
            }
        }
    }

    #[test]
    fn few_lines_give_the_law_of_the_long_transform() {
        for (size, used) in
            [(SHORT, 5), (3 * SHORT, 40), (1 << 17, 700), (1 << 15, 5000), (1 << 15, (1 << 14) + 1)]
        {
            let mut lines = vec![Complex64::default(); size / 2 + 1];
            for (at, line) in lines[..used].iter_mut().enumerate() {
                let imaginary = if at == 0 || at == size / 2 { 0.0 } else { 0.3 };
                *line = Complex64::new(1.0, imaginary) * (-(at as f64) / used as f64).exp() / used as f64;
            }
            let plan = RealFftPlanner::<f64>::new().plan_fft_inverse(size);
            let mut expected = plan.make_output_vec();
            plan.process(&mut lines.clone(), &mut expected).unwrap();
            let law = inverse(&mut lines, size);
            let worst = law.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 3e-15 * 2.0, "{used} lines of {size}: {worst:e}");
        }
    }
}
