//! The long form: sixteen members with the very noise that they add, in place of one normal.

use privacy::noise::{NoiseSource, danger_from_seed};
use questions::columns::Row;
use questions::simulate::simulate;

use super::data::{DECLARED, SEEDS, ask, columns, records};

/// A question for each row of the table whose interval no bins widen, with so many records.
const ROWS: [(&str, usize); 12] = [
    ("SELECT count(*), sum(age), mean(age) FROM swarm", 4_000),
    ("SELECT variance(chol), stddev(chol) FROM swarm", 4_000),
    ("SELECT histogram(region) FROM swarm", 4_000),
    ("SELECT gini(chol) FROM swarm", 4_000),
    ("SELECT auc(score, sick), mannwhitney(score, sick) FROM swarm", 4_000),
    ("SELECT crosstab(region, blood), crosstab(bin(age, 4), bin(chol, 4)) FROM swarm", 4_000),
    ("SELECT pairs(region, blood, sick) FROM swarm", 4_000),
    ("SELECT corr(age, chol, score) FROM swarm", 20_000),
    ("SELECT linreg(chol, age) FROM swarm", 20_000),
    ("SELECT kendall(age, chol) FROM swarm", 4_000),
    ("SELECT survival(days, died) FROM swarm", 4_000),
    ("SELECT confusion(sick, guess), accuracy(sick, guess) FROM swarm", 4_000),
];

/// False alarms as in the short form: 2e-3 an answer.
#[test]
#[ignore = "some minutes: exact noise of sixteen members, 500 times a row"]
fn intervals_hold_what_they_say_with_the_noise_that_members_add() {
    let columns = columns(&DECLARED);
    let all = records(&columns, 20_000);
    for (text, count) in ROWS {
        let rows = &all[..count];
        let asked = ask(text, &columns, rows);
        let nodes: Vec<Vec<&Row>> =
            (0..16).map(|node| rows.iter().skip(node).step_by(16).collect()).collect();
        let truth = asked.truth();
        let (mut held, mut of) = (vec![0_u64; truth.len()], vec![0_u64; truth.len()]);
        for seed in 0..SEEDS {
            let mut noise = |node: usize| -> Box<dyn NoiseSource> {
                Box::new(danger_from_seed(seed, &format!("drawn/{node}")))
            };
            let found =
                simulate(&asked.plan, &nodes, &mut noise, false).unwrap().lines.swap_remove(0).answers;
            for (at, (found, truth)) in found.iter().zip(&truth).enumerate() {
                let (low, high) =
                    (found.low.as_ref().unwrap().numbers(), found.high.as_ref().unwrap().numbers());
                for ((low, high), truth) in low.iter().zip(high).zip(truth.raw.as_ref().unwrap().numbers()) {
                    // The diagonal of a table of correlations is no estimate.
                    if *low < high {
                        of[at] += 1;
                        held[at] += u64::from(*low <= truth && truth <= high);
                    }
                }
            }
        }
        for (at, (held, of)) in held.into_iter().zip(of).enumerate() {
            let share = held as f64 / of as f64;
            assert!((0.92..=0.98).contains(&share), "{text}, answer {at}: {share}");
        }
    }
}
