//! One test for each row of the table.

use privacy::noise::{NoiseSource, danger_from_seed};
use questions::answer::Figure;
use questions::columns::Row;
use questions::contribution::{DistinctResponse, search_level};
use questions::kinds::distinct::{BUCKETS, Distinct};
use questions::kinds::frequent::Search;
use questions::language::ast::Kind;
use questions::language::parse;
use questions::noise::Unit;
use questions::plan::{Method, plan};

use super::data::{Asked, DECLARED, SEEDS, ask, ask_with, columns, records, terms};

const RECORDS: usize = 4_000;

fn asked(text: &str) -> Asked {
    asked_of(text, RECORDS)
}

fn asked_of(text: &str, count: usize) -> Asked {
    let columns = columns(&DECLARED);
    let rows = records(&columns, count);
    ask(text, &columns, &rows)
}

/// The interval of every answer covers what its own reader says without noise, 92–98 %.
fn covers(text: &str) {
    covers_of(text, RECORDS);
}

fn covers_of(text: &str, count: usize) {
    let asked = asked_of(text, count);
    for (at, truth) in asked.truth().iter().enumerate() {
        let share = asked.coverage(at, truth.raw.as_ref().expect("a figure"));
        assert!((0.92..=0.98).contains(&share), "{text}, answer {at}: {share}");
    }
}

/// As [`covers`], but bins may widen the interval.
fn covers_at_least(text: &str, truth: f64) {
    let share = asked(text).coverage(0, &Figure::Number(truth));
    assert!(share >= 0.92, "{text}: {share}");
}

#[test]
fn counts() {
    covers("SELECT count(*) FROM swarm WHERE sick = 1");
    covers("SELECT count(age), missing(age), clamped(chol) FROM swarm");
}

#[test]
fn means_and_sums() {
    covers("SELECT mean(age), sum(age), count(*), count(age), missing(age) FROM swarm");
    covers("SELECT mean(clamp(chol / 2 + age, 50, 300)) FROM swarm");
}

#[test]
fn variances() {
    covers("SELECT variance(chol), stddev(chol), mean(chol), sum(chol), count(*) FROM swarm");
}

#[test]
fn histograms() {
    covers("SELECT histogram(region), histogram(chol, 10) FROM swarm");
}

/// The half-width for all cells at once: so often are all of them within it together.
#[test]
fn histograms_are_covered_as_a_whole() {
    let asked = asked("SELECT histogram(chol, 10) FROM swarm");
    let truth = asked.truth()[0].raw.as_ref().expect("a figure").numbers();
    let held = |seed: &u64| {
        let answer = asked.answers(*seed).swap_remove(0);
        let half = answer.more["simultaneous"];
        answer.raw.expect("a figure").numbers().iter().zip(&truth).all(|(y, truth)| (y - truth).abs() <= half)
    };
    let share = (0..SEEDS).filter(held).count() as f64 / SEEDS as f64;
    assert!((0.92..=0.98).contains(&share), "{share}");
}

#[test]
fn quantiles_of_whole_numbers_and_of_bins() {
    let columns = columns(&DECLARED);
    let rows = records(&columns, RECORDS);
    for (column, at) in [("age", 0), ("chol", 1)] {
        for q in [0.1, 0.5, 0.9] {
            let mut values: Vec<f64> = rows
                .iter()
                .filter_map(|row| match row[at] {
                    questions::columns::Cell::Number(x) => Some(x),
                    _ => None,
                })
                .collect();
            values.sort_by(f64::total_cmp);
            let truth = values[(q * values.len() as f64).ceil() as usize - 1];
            covers_at_least(&format!("SELECT quantile({column}, {q}) FROM swarm"), truth);
        }
    }
}

#[test]
fn descriptions() {
    // Everything but the quartiles, which bins widen.
    let asked = asked("SELECT describe(chol), describe(age) FROM swarm");
    let truth = asked.truth();
    for at in [0, 1, 2, 3, 7, 8, 9, 10] {
        let share = asked.coverage(at, truth[at].raw.as_ref().unwrap());
        assert!((0.92..=0.98).contains(&share), "{at}: {share}");
    }
}

#[test]
fn gini_and_areas() {
    covers("SELECT gini(chol) FROM swarm");
    covers("SELECT auc(score, sick) FROM swarm");
}

#[test]
fn tables() {
    covers("SELECT crosstab(region, blood) FROM swarm");
    covers("SELECT crosstab(bin(age, 5), bin(chol, 4)) FROM swarm");
    covers("SELECT pairs(region, blood, sick) FROM swarm");
}

#[test]
fn correlations_and_least_squares() {
    covers_of("SELECT corr(age, chol) FROM swarm", 20_000);
    covers_of("SELECT corr(age, chol, score) FROM swarm", 20_000);
    covers_of("SELECT linreg(chol, age, score) FROM swarm", 20_000);
}

#[test]
fn kendall() {
    // The table has 64 cells of 62 records: ties and squares of noise are taken off.
    covers("SELECT kendall(age, chol) FROM swarm");
}

#[test]
fn survival_curves() {
    covers("SELECT survival(days, died) FROM swarm");
}

#[test]
fn confusion_and_accuracy() {
    covers("SELECT confusion(sick, guess), accuracy(sick, guess) FROM swarm");
}

#[test]
fn other_units_have_more_noise_and_cover_as_often() {
    let columns = columns(&DECLARED);
    let rows = records(&columns, RECORDS);
    for unit in [Unit::ReplacedRecord, Unit::Person, Unit::Node { max_records: 3 }] {
        let asked = ask_with("SELECT mean(age), histogram(region) FROM swarm", &columns, &rows, unit);
        for (at, truth) in asked.truth().iter().enumerate() {
            let share = asked.coverage(at, truth.raw.as_ref().unwrap());
            assert!((0.92..=0.98).contains(&share), "{unit:?}, {at}: {share}");
        }
    }
}

/// Rows with one text column: value i is held by `counts[i]` records.
fn coded(counts: &[usize]) -> (questions::columns::Columns, Vec<Row>) {
    let columns = columns(&["code:text=3"]);
    let row = |i: usize| {
        let text = format!("{}{}", (b'a' + (i % 20) as u8) as char, i);
        columns.read(|_| Some(text.as_bytes()))
    };
    let rows = counts.iter().enumerate().flat_map(|(i, &count)| vec![row(i); count]).collect();
    (columns, rows)
}

#[test]
fn frequent_values_are_found_with_their_counts_and_hardly_ever_false_ones() {
    let mut counts = vec![600, 400, 300, 200, 150];
    counts.extend([1; 60]);
    let (columns, rows) = coded(&counts);
    let question = parse("SELECT frequent(code, 5) FROM swarm", &columns).unwrap();
    let planned = plan(question, terms(Unit::Record), rows.len() as u64).unwrap();
    let Method::Frequent(search_plan) = planned.method else { panic!("a search") };
    let Kind::Frequent(column, _) = planned.question.aggregates[0].kind else { panic!("a search") };
    // Exact counts once; one draw of the total noise per level, as a normal.
    let (mut held, mut all, mut wrong, mut missed) = (0, 0, 0, 0);
    for seed in 0..100 {
        let mut noise = danger_from_seed(seed, "search");
        let mut search = Search::new(5, search_plan.levels);
        while !search.is_done() {
            let silent = questions::plan::FrequentPlan { node_variance: 256, ..search_plan };
            let own = (&planned.question, &silent, column);
            let level = search_level(own, &search, &rows, &mut noise);
            let mut normals = vec![0.0; level.len()];
            noise.standard_normals(&mut normals);
            let noisy: Vec<f64> = level
                .iter()
                .zip(&normals)
                .map(|(&count, normal)| count as f64 / search_plan.grid.scale() + normal * search_plan.noise)
                .collect();
            search.advance(&noisy, search_plan.noise);
        }
        let found = search.found();
        missed += 5 - found.len();
        for (value, count) in found {
            let number: usize = String::from_utf8_lossy(&value[1..]).parse().unwrap();
            wrong += usize::from(number >= 5);
            all += 1;
            held += usize::from((count - counts[number] as f64).abs() <= 1.96 * search_plan.noise);
        }
    }
    // The rarest of the five has 150 records, and values are found from fewer: 95 % each at that number.
    assert!(missed <= 25, "{missed} of 500 were missed");
    assert!(wrong <= 5, "{wrong} false values in 100 runs");
    let share = f64::from(held as u32) / f64::from(all as u32);
    assert!((0.92..=0.98).contains(&share), "{share}");
}

#[test]
fn distinct_values_are_covered_whether_one_node_holds_them_or_many() {
    let (columns, rows) = coded(&vec![1; 900]);
    let question = parse("SELECT count(DISTINCT code) FROM swarm", &columns).unwrap();
    let distinct = Distinct::new(2.0, BUCKETS, 16, 11);
    let response = DistinctResponse { question: &question, column: 0, distinct, buckets: BUCKETS };
    let different = response.values(&rows).len() as f64;
    for holders in [1, 4] {
        let mut covered = 0;
        for seed in 0..SEEDS {
            let mut total = vec![0_u32; BUCKETS];
            for node in 0..16 {
                let own =
                    rows.iter().enumerate().filter(|(i, _)| (0..holders).any(|k| (i + 5 * k) % 16 == node));
                let mut noise = danger_from_seed(seed, &format!("node/{node}"));
                let residues = response.residues(own.map(|(_, row)| row), &mut noise);
                total.iter_mut().zip(residues).for_each(|(total, own)| *total = total.wrapping_add(own));
            }
            let empty = total.iter().filter(|&&residue| residue == 0).count();
            let answer = distinct.answer(empty as f64).unwrap();
            covered += u64::from(answer.low <= different && different <= answer.high);
        }
        // One side only binds in either case: at least 95 %, less four deviations of the share.
        let share = covered as f64 / SEEDS as f64;
        assert!(share >= 0.92, "{holders}: {share}");
    }
}

/// The test statistic of two groups that live equally long is a standard normal: noise is in its variance.
#[test]
fn the_log_rank_test_keeps_its_level_under_noise() {
    let asked = asked("SELECT survival(days, died) FROM swarm GROUP BY guess");
    let mut rejected = 0;
    let truth = asked.tests(None)[0].z;
    for seed in 0..SEEDS {
        // Around the statistic without noise, whose own sampling is one draw: only the noise moves.
        rejected += u64::from((asked.tests(Some(seed))[0].z - truth).abs() > 1.96);
    }
    // Noise alone is less than noise and sampling: at most 5 %, and three deviations of the share.
    assert!(rejected as f64 / SEEDS as f64 <= 0.05 + 0.03, "{rejected}");
}

#[test]
fn groups_that_few_nodes_hold_are_hidden() {
    let columns = columns(&DECLARED);
    let rows = records(&columns, 600);
    let question = parse("SELECT count(*) FROM swarm GROUP BY region HAVING nodes() >= 5", &columns).unwrap();
    let terms = questions::noise::Terms { epsilon: 8.0, ..terms(Unit::Record) };
    let planned = plan(question, terms, 600).unwrap();
    let mut noise =
        |node: usize| -> Box<dyn NoiseSource> { Box::new(danger_from_seed(5, &format!("noise/{node}"))) };
    // Sixteen nodes that have everything, or one node that has all and fifteen that have nothing.
    let spread: Vec<Vec<&Row>> = (0..16).map(|node| rows.iter().skip(node).step_by(16).collect()).collect();
    let mut alone: Vec<Vec<&Row>> = vec![rows.iter().collect()];
    alone.resize(16, Vec::new());
    let shown = |nodes: &[Vec<&Row>], noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>| {
        questions::simulate::simulate(&planned, nodes, noise, false).unwrap().lines.len()
    };
    assert_eq!(shown(&spread, &mut noise), 3);
    assert_eq!(shown(&alone, &mut noise), 0);
}
