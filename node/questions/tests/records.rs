//! Nothing fails because of what a record holds, and no record moves a sum further than its sensitivity.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use questions::columns::{Column, Columns, Row};
use questions::contribution::sum;
use questions::language::parse;
use questions::noise::{Terms, Trust, Unit};
use questions::plan::{Method, QuestionPlan, plan};

const QUESTIONS: [&str; 9] = [
    "SELECT count(*), mean(age), sum(chol), stddev(chol), clamped(age), missing(chol) FROM swarm GROUP BY region",
    "SELECT mean(clamp(chol / (age * age), 10, 60)), median(clamp(age / chol - 1e300 * age, -1, 1)) FROM swarm",
    "SELECT histogram(age), histogram(region), crosstab(region, bin(chol, 3)) FROM swarm WHERE NOT age < 40 OR region = 'x'",
    "SELECT median(chol), gini(age), auc(chol, sick), describe(chol), describe(sick) FROM swarm",
    "SELECT corr(age, chol), kendall(age, chol) FROM swarm WHERE chol IS NOT NULL",
    "SELECT linreg(chol, age) FROM swarm GROUP BY bin(day, 3)",
    "SELECT survival(age, sick), accuracy(sick, region2), confusion(sick, region2) FROM swarm",
    "SELECT pairs(region, sick, region2) FROM swarm GROUP BY sick HAVING nodes() >= 2",
    "SELECT count(*) FROM swarm WHERE code = 'A1' AND day BETWEEN '2001-01-01' AND '2002-01-01'",
];

fn columns() -> Columns {
    let mut columns = Columns::default();
    for text in [
        "age:bounds=0..110,integer",
        "chol:bounds=100..400",
        "sick:values=0+1",
        "region:values=north+south",
        "region2:values=0+1",
        "code:text=4",
        "day:date=%d.%m.%Y,bounds=2000-01-01..2030-12-31",
        "filled:bounds=0..1,fill=0.5",
    ] {
        columns.declare(text.parse::<Column>().unwrap()).unwrap();
    }
    columns
}

/// Those that are no sum.
const OTHERS: [(&str, Trust); 6] = [
    ("SELECT frequent(code, 1) FROM swarm WHERE age > 3 OR code = 'A1'", Trust::Masked),
    ("SELECT count(DISTINCT code) FROM swarm", Trust::Masked),
    ("SELECT count(DISTINCT chol) FROM swarm WHERE NOT region = 'x'", Trust::Masked),
    ("SELECT histogram(region) FROM swarm WHERE age > 40", Trust::Local),
    ("SELECT median(chol) FROM swarm", Trust::Local),
    ("SELECT gini(filled) FROM swarm", Trust::Local),
];

fn planned(text: &str, columns: &Columns) -> QuestionPlan {
    planned_for(text, columns, Unit::Record)
}

fn planned_for(text: &str, columns: &Columns, unit: Unit) -> QuestionPlan {
    let terms = Terms { epsilon: 1.0, delta: 1e-5, contributors: 8, honest: 5, trust: Trust::Masked, unit };
    plan(parse(text, columns).unwrap(), terms, 100_000).unwrap()
}

/// Cells as files have them: numbers, almost numbers, words, bytes that are no text.
fn cell() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"".to_vec()),
        Just(b"NaN".to_vec()),
        Just(b"-inf".to_vec()),
        Just(b"1e308".to_vec()),
        Just(b"-1e308".to_vec()),
        Just(b"0".to_vec()),
        Just(b"1".to_vec()),
        Just(b"north".to_vec()),
        Just(b"A1".to_vec()),
        Just(b"29.02.2001".to_vec()),
        Just(b"03.04.2010".to_vec()),
        any::<f64>().prop_map(|x| x.to_string().into_bytes()),
        (-50.0f64..500.0).prop_map(|x| x.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..12),
    ]
}

fn row(columns: &Columns, cells: &[Vec<u8>]) -> Row {
    let position = |name: &str| columns.all().iter().position(|column| column.name == name);
    columns.read(|name| position(name).and_then(|at| cells.get(at)).map(Vec::as_slice))
}

proptest! {
    #[test]
    fn any_record_is_summed_within_its_sensitivity(cells in prop::collection::vec(cell(), 0..8)) {
        let columns = columns();
        let row = row(&columns, &cells);
        for text in QUESTIONS {
            let plan = planned(text, &columns);
            let Method::Sum(sum_plan) = &plan.method else { panic!("a sum") };
            let feature = sum(&plan.question, sum_plan, [&row]);
            for (at, block) in sum_plan.blocks.iter().enumerate() {
                let start = sum_plan.start(at, 0);
                let own = &feature[start..start + block.coordinates * sum_plan.groups.len()];
                let squared: f64 = own.iter().map(|&x| x as f64 * x as f64).sum();
                let most = block.block.squared_sensitivity(block.grid.bits);
                prop_assert!(squared <= most, "{text}: {squared} > {most}");
            }
        }
    }

    #[test]
    fn any_records_get_an_answer(rows in prop::collection::vec(prop::collection::vec(cell(), 8), 0..12), seed in 0_u64..1000) {
        let columns = columns();
        let rows: Vec<Row> = rows.iter().map(|cells| row(&columns, cells)).collect();
        let sums = QUESTIONS.map(|text| (text, Trust::Masked));
        for (text, trust) in sums.into_iter().chain(OTHERS) {
            let terms = Terms { epsilon: 1.0, delta: 1e-5, contributors: 8, honest: 5, trust, unit: Unit::Record };
            let plan = plan(parse(text, &columns).unwrap(), terms, 100_000).unwrap();
            let nodes: Vec<Vec<&Row>> = rows.chunks(2).map(|own| own.iter().collect()).collect();
            let mut noise = |node: usize| -> Box<dyn privacy::noise::NoiseSource> {
                Box::new(privacy::noise::danger_from_seed(seed, &format!("noise/{node}")))
            };
            questions::simulate::simulate(&plan, &nodes, &mut noise, true).unwrap();
        }
    }

    #[test]
    fn a_replaced_record_moves_no_sum_further_than_is_paid_for(
        first in prop::collection::vec(cell(), 7), second in prop::collection::vec(cell(), 7), coarse in prop::option::of(0_u32..6),
    ) {
        let columns = columns();
        let (first, second) = (row(&columns, &first), row(&columns, &second));
        let unit = Unit::ReplacedRecord;
        for text in QUESTIONS {
            let mut plan = planned_for(text, &columns, unit);
            let Method::Sum(sum_plan) = &mut plan.method else { panic!("a sum") };
            // Also on coarse grids, where rounding says most.
            sum_plan.blocks.iter_mut().for_each(|block| block.grid.bits = coarse.unwrap_or(block.grid.bits));
            let (one, other) = (sum(&plan.question, sum_plan, [&first]), sum(&plan.question, sum_plan, [&second]));
            for (at, block) in sum_plan.blocks.iter().enumerate() {
                let range = sum_plan.start(at, 0)..sum_plan.start(at, 0) + block.coordinates * sum_plan.groups.len();
                let apart: f64 = one[range.clone()].iter().zip(&other[range]).map(|(&x, &y)| ((x - y) as f64).powi(2)).sum();
                let factor = unit.factor(block.block.is_count() && sum_plan.groups.len() == 1);
                let most = block.block.squared_change(block.grid.bits, unit, factor);
                prop_assert!(apart <= most, "{text}: {apart} > {most}");
            }
        }
    }
}

#[test]
fn null_compares_false_as_in_sql() {
    let columns = columns();
    let rows: Vec<Row> = [["", "150"], ["30", "150"], ["50", "?"]]
        .map(|cells| row(&columns, &cells.map(|c| c.as_bytes().to_vec())))
        .to_vec();
    let count = |condition: &str| {
        let plan = planned(&format!("SELECT count(*) FROM swarm WHERE {condition}"), &columns);
        let Method::Sum(sum_plan) = &plan.method else { panic!("a sum") };
        sum(&plan.question, sum_plan, &rows)[0] >> sum_plan.blocks[0].grid.bits
    };
    // Counts by SQLite on the same three rows.
    for (condition, expected) in [
        ("age = 30", 1),
        ("NOT age = 30", 1),
        ("age <> 30", 1),
        ("age IS NULL", 1),
        ("age IS NOT NULL", 2),
        ("age < 40 OR chol < 200", 2),
        ("NOT (age < 40 OR chol < 200)", 0),
        ("NOT (age < 40 AND chol < 200)", 1),
        ("age IN (30, 50)", 2),
        ("age NOT IN (30, 1)", 1),
        ("age BETWEEN 20 AND 40", 1),
        ("age NOT BETWEEN 20 AND 40", 1),
        ("40 > age", 1),
        ("NOT (NOT age = 30)", 1),
    ] {
        assert_eq!(count(condition), expected, "{condition}");
    }
}
