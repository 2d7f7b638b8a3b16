//! Everything that the specification refuses, with a message and a hint, before anything is spent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use questions::columns::{Column, Columns};
use questions::language::parse;
use questions::noise::{Terms, Trust, Unit};
use questions::plan::plan;
use questions::refusal::Refusal;
use topology::Hint;

fn columns() -> Columns {
    let mut columns = Columns::default();
    for text in [
        "age:bounds=0..110,integer",
        "kg:bounds=0..300",
        "m:bounds=0..3",
        "free",
        "sick:values=0+1",
        "region:values=north+south",
        "code:text=8",
        "admitted:date=%d.%m.%Y,bounds=2000-01-01..2030-12-31",
    ] {
        columns.declare(text.parse::<Column>().unwrap()).unwrap();
    }
    columns
}

fn terms() -> Terms {
    Terms {
        epsilon: 1.0,
        delta: 1e-5,
        contributors: 16,
        honest: 11,
        trust: Trust::Masked,
        unit: Unit::Record,
    }
}

fn refused(text: &str) -> Refusal {
    refused_with(text, terms())
}

fn refused_with(text: &str, terms: Terms) -> Refusal {
    let refusal = parse(text, &columns())
        .and_then(|question| plan(question, terms, 1000))
        .err()
        .unwrap_or_else(|| panic!("not refused: {text}"));
    assert!(!refusal.to_string().is_empty() && refusal.hint().is_some());
    refusal
}

#[track_caller]
fn says(text: &str, words: &str) {
    let refusal = refused(text).to_string();
    assert!(refusal.contains(words), "{text}: {refusal}");
}

#[test]
fn columns_that_nobody_declared() {
    says("SELECT mean(agee) FROM swarm", "column `agee` is not declared");
    assert!(refused("SELECT mean(agee) FROM swarm").hint().unwrap().contains("did you mean `age`"));
    says("SELECT count(*) FROM swarm WHERE smokes = 1", "`smokes` is not declared");
    says("SELECT count(*) FROM swarm GROUP BY hospital", "`hospital` is not declared");
}

#[test]
fn bounds_that_are_missing_equal_or_not_finite() {
    says("SELECT mean(free) FROM swarm", "column `free` has no bounds");
    says("SELECT mean(clamp(kg, 5, 5)) FROM swarm", "must be finite and in order");
    says("SELECT mean(clamp(kg, 60, 10)) FROM swarm", "must be finite and in order");
    says("SELECT mean(kg / (m * m)) FROM swarm", "arithmetic needs bounds");
    assert!(refused("SELECT mean(kg / 2) FROM swarm").hint().unwrap().contains("clamp(kg / 2, LOW, HIGH)"));
}

#[test]
fn minima_and_maxima() {
    for (text, hint) in [("min(age)", "quantile(age, 0.01)"), ("max(age)", "quantile(age, 0.99)")] {
        let refusal = refused(&format!("SELECT {text} FROM swarm"));
        assert!(matches!(refusal, Refusal::Extreme { .. }), "{refusal}");
        assert!(refusal.hint().unwrap().contains(hint), "{:?}", refusal.hint());
    }
}

#[test]
fn sql_outside_the_list() {
    for text in [
        "SELECT * FROM swarm",
        "SELECT age FROM swarm",
        "SELECT count(*) AS n FROM swarm",
        "SELECT count(*) FROM other",
        "SELECT count(*) FROM model m",
        "SELECT count(*) FROM swarm, swarm",
        "SELECT count(*) FROM swarm s",
        "SELECT count(*) FROM swarm JOIN other ON 1 = 1",
        "SELECT count(*) FROM (SELECT * FROM swarm)",
        "SELECT count(*) FROM swarm LIMIT 3",
        "SELECT count(*) FROM swarm ORDER BY 1",
        "SELECT DISTINCT count(*) FROM swarm",
        "SELECT count(*) FROM swarm UNION SELECT count(*) FROM swarm",
        "WITH a AS (SELECT 1) SELECT count(*) FROM swarm",
        "SELECT count(*) FROM swarm; SELECT count(*) FROM swarm",
        "DELETE FROM swarm",
        "SELECT count(*) FILTER (WHERE age > 3) FROM swarm",
        "SELECT mean(age) OVER () FROM swarm",
        "SELECT mean(DISTINCT age) FROM swarm",
        "SELECT count(*) FROM swarm WHERE age IN (SELECT 1)",
        "SELECT count(*) FROM swarm WHERE age LIKE 'x'",
        "SELECT count(*) FROM swarm WHERE age = kg",
        "SELECT count(*) FROM swarm WHERE age + 1 > 3",
        "SELECT count(*) FROM swarm WHERE age = 'old'",
        "SELECT count(*) FROM swarm WHERE region > 'north'",
        "SELECT count(*) FROM swarm GROUP BY age",
        "SELECT count(*) FROM swarm GROUP BY ROLLUP (region)",
        "SELECT count(*) FROM swarm GROUP BY region HAVING count(*) > 5",
        "SELECT count(*) FROM swarm GROUP BY region HAVING nodes() > 5",
        "SELECT mean(age) + 1 FROM swarm",
        "SELECT 1 FROM swarm",
        "SELECT region FROM swarm GROUP BY region",
    ] {
        let refusal = refused(text);
        let outside = matches!(
            refusal,
            Refusal::Outside { .. }
                | Refusal::Kind { .. }
                | Refusal::Syntax { .. }
                | Refusal::Arguments { .. }
        );
        assert!(outside, "{text}: {refusal}");
    }
    assert!(matches!(refused("SELECT"), Refusal::Syntax { .. }));
    assert!(matches!(refused(""), Refusal::Syntax { .. }));
    assert!(matches!(refused(&"x".repeat(5000)), Refusal::TooLong { bytes: 5000 }));
    let deep = format!("SELECT count(*) FROM swarm WHERE {}age = 1{}", "(".repeat(200), ")".repeat(200));
    assert!(matches!(refused(&deep), Refusal::Syntax { .. }));
}

#[test]
fn functions_and_arguments() {
    assert!(refused("SELECT mena(age) FROM swarm").hint().unwrap().contains("`mean`"));
    for text in [
        "mean(age, kg)",
        "mean()",
        "quantile(age)",
        "quantile(age, 1)",
        "quantile(age, 0)",
        "histogram(age, 1)",
        "frequent(code)",
        "frequent(code, 0)",
        "frequent(code, 1000)",
        "auc(age)",
        "corr(age)",
        "corr(age, age)",
        "bin(age, 3)",
        "count()",
        "linreg(age)",
    ] {
        let refusal = refused(&format!("SELECT {text} FROM swarm"));
        assert!(matches!(refusal, Refusal::Arguments { .. } | Refusal::Outside { .. }), "{text}: {refusal}");
    }
    for text in [
        "mean(region)",
        "auc(age, code)",
        "frequent(region, 3)",
        "crosstab(age, region)",
        "survival(age, kg)",
    ] {
        let refusal = refused(&format!("SELECT {text} FROM swarm"));
        assert!(matches!(refusal, Refusal::Kind { .. }), "{text}: {refusal}");
    }
}

#[test]
fn too_many_numbers() {
    says("SELECT histogram(kg, 65536) FROM swarm", "65,536 are the most");
    says("SELECT count(*) FROM swarm GROUP BY bin(kg, 400), bin(age, 400)", "65,536 are the most");
    says("SELECT median(kg) FROM swarm GROUP BY bin(age, 500)", "65,536 are the most");
    says(
        "SELECT count(*) FROM swarm GROUP BY bin(kg, 60000), bin(m, 60000), bin(age, 60000)",
        "65,536 are the most",
    );
}

#[test]
fn questions_that_must_be_asked_alone_or_under_masks() {
    says("SELECT frequent(code, 3), count(*) FROM swarm", "must be asked alone");
    says("SELECT count(DISTINCT code) FROM swarm GROUP BY region", "must be asked alone");
    let gossip = Terms { trust: Trust::Gossip, ..terms() };
    let refusal = refused_with("SELECT count(DISTINCT code) FROM swarm", gossip);
    assert!(matches!(refusal, Refusal::NeedsMasks { .. }), "{refusal}");
    let local = Terms { trust: Trust::Local, ..terms() };
    assert!(matches!(refused_with("SELECT gini(age) FROM swarm", local), Refusal::Local { .. }));
}

#[test]
fn terms_that_make_no_sense() {
    let question = "SELECT count(*) FROM swarm";
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused_with(question, Terms { epsilon, ..terms() }), Refusal::Epsilon { .. }));
    }
    for delta in [0.0, 1.0, -1e-5, f64::NAN] {
        assert!(matches!(refused_with(question, Terms { delta, ..terms() }), Refusal::Delta { .. }));
    }
    for (contributors, honest) in [(0, 0), (5, 0), (5, 6)] {
        let refusal = refused_with(question, Terms { contributors, honest, ..terms() });
        assert!(matches!(refusal, Refusal::Members { .. }));
    }
    let unit = Unit::Node { max_records: 0 };
    assert_eq!(refused_with(question, Terms { unit, ..terms() }), Refusal::NoMaxRecords);
}

/// What is accepted, so that the refusals above are not mere refusals of everything.
#[test]
fn the_language_of_the_specification_is_accepted() {
    for text in [
        "SELECT count(*), mean(age), median(kg) FROM swarm WHERE sick = 1 GROUP BY region",
        "select Mean(clamp(kg / (m * m), 10, 60)) from SWARM where not (age < 3 or age >= 90) and region in ('north', 'x')",
        "SELECT region, sick, count(*) FROM swarm GROUP BY region, sick HAVING nodes() >= 5",
        "SELECT count(*) FROM swarm WHERE age BETWEEN 3 AND 5 AND kg IS NOT NULL AND code <> 'A1' AND sick >= 1",
        "SELECT count(*) FROM swarm WHERE admitted >= '2020-02-01' AND 50 < age",
        "SELECT histogram(bin(age, 4)), histogram(age, 5), histogram(region), describe(age), describe(region) FROM swarm",
        "SELECT frequent(code, 20) FROM swarm WHERE age > 50",
        "SELECT count(DISTINCT code) FROM swarm",
        "describe",
    ] {
        let question = parse(text, &columns()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        plan(question, terms(), 1000).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    }
}

/// A record that moves between two groups changes two counts: √2, where one count of all changes by 1.
#[test]
fn replaced_records_move_one_count_by_one_and_grouped_counts_by_the_root_of_two() {
    let sensitivity = |text: &str| {
        let unit = Unit::ReplacedRecord;
        let planned = plan(parse(text, &columns()).unwrap(), Terms { unit, ..terms() }, 1000).unwrap();
        let questions::plan::Method::Sum(sum) = planned.method else { panic!("a sum") };
        sum.blocks[0].sensitivity
    };
    assert_eq!(sensitivity("SELECT count(*) FROM swarm WHERE sick = 1"), 1.0);
    assert_eq!(sensitivity("SELECT count(*) FROM swarm GROUP BY sick"), std::f64::consts::SQRT_2);
}

#[test]
fn noise_that_cannot_be_drawn_is_refused_and_what_can_be_is_drawn_on_a_coarser_grid() {
    let question = "SELECT count(*) FROM swarm";
    for (epsilon, max_records) in [(1e-7, 1), (1.0, 10_000_000), (1e-12, u64::MAX)] {
        let unit = Unit::Node { max_records };
        let planned = plan(parse(question, &columns()).unwrap(), Terms { unit, epsilon, ..terms() }, 1000);
        match planned.map(|plan| plan.method) {
            Ok(questions::plan::Method::Sum(sum)) => {
                assert!(sum.blocks[0].node_variance < 3_600_000_000_000_000)
            }
            Ok(_) => panic!("a sum"),
            Err(refusal) => assert!(matches!(refusal, Refusal::Epsilon { .. }), "{refusal}"),
        }
    }
}
