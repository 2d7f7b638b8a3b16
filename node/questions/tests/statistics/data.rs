//! Synthetic records and repeated answers.

use privacy::noise::{NoiseSource, danger_from_seed};
use questions::answer::{Answer, Figure, answers};
use questions::columns::{Columns, Row};
use questions::contribution::sum;
use questions::language::parse;
use questions::noise::{Terms, Trust, Unit};
use questions::plan::{Method, QuestionPlan, SumPlan, plan};

/// Repetitions of every question.
pub(crate) const SEEDS: u64 = 500;

/// ε = 1 among 16 members of whom five may collude, as in the specification.
pub(crate) fn terms(unit: Unit) -> Terms {
    Terms { epsilon: 1.0, delta: 1e-5, contributors: 16, honest: 11, trust: Trust::Masked, unit }
}

pub(crate) fn columns(declared: &[&str]) -> Columns {
    let mut columns = Columns::default();
    for text in declared {
        columns.declare(text.parse().unwrap()).unwrap();
    }
    columns
}

/// The declarations that the synthetic records follow.
pub(crate) const DECLARED: [&str; 9] = [
    "age:bounds=0..110,integer",
    "chol:bounds=100..400",
    "score:bounds=0..1",
    "sick:values=0+1",
    "region:values=north+south+west",
    "blood:values=a+b+ab+o",
    "days:bounds=0..240",
    "died:values=no+yes",
    "guess:values=0+1",
];

/// Records with known dependence between their columns: uniforms from a seeded stream, nothing else.
pub(crate) fn records(columns: &Columns, count: usize) -> Vec<Row> {
    let mut words = vec![0_u64; 12 * count];
    danger_from_seed(2026, "records").words(&mut words);
    let unit = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
    (0..count)
        .map(|i| {
            let u: Vec<f64> = words[12 * i..12 * i + 12].iter().map(|&word| unit(word)).collect();
            let age = 20.0 + 30.0 * (u[0] + u[1]);
            let sick = u[2] < 0.2 + 0.5 * (age - 20.0) / 60.0;
            let score = (0.35 * f64::from(u8::from(sick)) + 0.65 * u[3]).min(1.0);
            let chol = 150.0 + age + 120.0 * u[4];
            let region = ["north", "south", "west"][((u[5] * 2.2 + 0.8 * u[0]) as usize).min(2)];
            let blood = ["a", "b", "ab", "o"][(u[6] * 4.0) as usize];
            let (event, leaves) = (-100.0 * u[7].max(1e-9).ln(), 260.0 * u[8]);
            let died = event < leaves;
            let guess = if u[9] < 0.85 { sick } else { !sick };
            let cell = |name: &str| -> String {
                match name {
                    // One in twenty has no age, one in thirty no cholesterol.
                    "age" if u[10] < 0.05 => String::new(),
                    "age" => format!("{age:.0}"),
                    "chol" if u[11] < 0.03 => "?".into(),
                    "chol" => format!("{chol}"),
                    "score" => format!("{score}"),
                    "sick" => u8::from(sick).to_string(),
                    "region" => region.into(),
                    "blood" => blood.into(),
                    "days" => format!("{}", event.min(leaves)),
                    "died" => if died { "yes" } else { "no" }.into(),
                    _ => u8::from(guess).to_string(),
                }
            };
            let texts: Vec<(String, String)> =
                columns.all().iter().map(|column| (column.name.clone(), cell(&column.name))).collect();
            columns
                .read(|name| texts.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_bytes()))
        })
        .collect()
}

/// A question, its plan, and the exact sum of all records.
pub(crate) struct Asked {
    pub(crate) plan: QuestionPlan,
    pub(crate) sum_plan: SumPlan,
    pub(crate) exact: Vec<i64>,
}

pub(crate) fn ask(text: &str, columns: &Columns, rows: &[Row]) -> Asked {
    ask_with(text, columns, rows, Unit::Record)
}

pub(crate) fn ask_with(text: &str, columns: &Columns, rows: &[Row], unit: Unit) -> Asked {
    let question = parse(text, columns).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    let plan = plan(question, terms(unit), rows.len() as u64).unwrap();
    let Method::Sum(sum_plan) = plan.method.clone() else { panic!("{text} is no sum") };
    let exact = sum(&plan.question, &sum_plan, rows);
    Asked { plan, sum_plan, exact }
}

impl Asked {
    /// The answers of one repetition: normals of the released deviation in place of 16 discrete Gaussians, which are
    /// the same to many digits at these widths and 50 times slower.
    pub(crate) fn answers(&self, seed: u64) -> Vec<Answer> {
        answers(&self.plan, &self.sum_plan, &self.noisy(seed), false).lines.swap_remove(0).answers
    }

    fn noisy(&self, seed: u64) -> Vec<i64> {
        let mut normals = vec![0.0; self.exact.len()];
        danger_from_seed(seed, "coverage").standard_normals(&mut normals);
        let mut noisy = self.exact.clone();
        let mut at = 0;
        for block in &self.sum_plan.blocks {
            for _ in 0..block.coordinates * self.sum_plan.groups.len() {
                noisy[at] += (normals[at] * block.noise * block.grid.scale()).round() as i64;
                at += 1;
            }
        }
        noisy
    }

    /// Tests between groups, with noise of this seed or none.
    pub(crate) fn tests(&self, seed: Option<u64>) -> Vec<questions::answer::Test> {
        let sum = seed.map_or_else(|| self.exact.clone(), |seed| self.noisy(seed));
        answers(&self.plan, &self.sum_plan, &sum, false).tests
    }

    /// What the same readers say without noise.
    pub(crate) fn truth(&self) -> Vec<Answer> {
        let mut silent = self.sum_plan.clone();
        silent.blocks.iter_mut().for_each(|block| block.noise = 0.0);
        answers(&self.plan, &silent, &self.exact, false).lines.swap_remove(0).answers
    }

    /// The share of repetitions whose interval holds `truth`, over all numbers of answer `at`.
    pub(crate) fn coverage(&self, at: usize, truth: &Figure) -> f64 {
        let truth = truth.numbers();
        let (mut held, mut all) = (0_u64, 0_u64);
        for seed in 0..SEEDS {
            let answer = self.answers(seed).swap_remove(at);
            let (Some(low), Some(high)) = (&answer.low, &answer.high) else {
                panic!("no interval: {answer:?}")
            };
            for ((low, high), truth) in low.numbers().iter().zip(high.numbers()).zip(&truth) {
                // The diagonal of a table of correlations is no estimate.
                if *low == high {
                    continue;
                }
                all += 1;
                held += u64::from(*low <= *truth && *truth <= high);
            }
        }
        held as f64 / all as f64
    }
}
