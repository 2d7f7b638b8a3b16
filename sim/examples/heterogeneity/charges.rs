//! Setting E: payments to hospitals, as in the paper on group privacy. 70 % of the hospitals train one linear model at node level; each of the others has an intercept of
//! its own, Σ residuals of its other records/(their number + ½), and is judged on every record by all its others.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use learn::data::{DataSource, Dataset, Target, Targets, hold_out};
use learn::metrics::MeanSpread;
use sim::Options;

const DATA: &str = "../shared/data/hospital_charges.csv.gz:label=avg_total_payments,target=real,id=provider_id,\
                    features=drg_index+lon+lat";
/// What brings columns and payments to the range of the units.
const UNITS: [f32; 3] = [3.0, 100.0, 100.0];
const PAYMENT: f32 = 10_000.0;

/// Squared errors of three predictions, for each record of one hospital.
type Errors = Vec<[f64; 3]>;

/// The table of this setting.
pub(super) fn table(seeds: u64) -> Result<String, Box<dyn Error>> {
    let hospitals = hospitals()?;
    let mut text = "Root mean squared error over all records of hospitals that did not train; in brackets that of the tenth that is served worst.\n\n\
                    | | ε | own intercept | shared | mean of the others | must be at most |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (epsilon, most) in [("inf", ""), ("8", "0.097"), ("2", "0.110")] {
        let all: Result<Vec<Vec<Errors>>, _> =
            (1..=seeds).map(|seed| errors(&hospitals, epsilon, seed)).collect();
        let all = all?;
        let cell = |kind: usize| -> Result<String, Box<dyn Error>> {
            let pooled: Vec<f64> = all.iter().map(|run| rmse(run.iter().flatten(), kind)).collect();
            let tenth: Vec<f64> = all.iter().map(|run| worst_tenth(run, kind)).collect();
            Ok(format!("{} ({:.3})", super::shown(&MeanSpread::of(&pooled)?), MeanSpread::of(&tenth)?.mean))
        };
        writeln!(text, "| E | {epsilon} | {} | {} | {} | {most} |", cell(0)?, cell(1)?, cell(2)?)?;
    }
    Ok(text)
}

/// One set of records for each hospital.
fn hospitals() -> Result<Vec<Dataset>, Box<dyn Error>> {
    let all = DATA.parse::<DataSource>()?.load(1)?.train;
    let mut rows: BTreeMap<u32, (Vec<f32>, Vec<f32>)> = BTreeMap::new();
    for (record, &hospital) in all.group_of_records().ok_or("hospitals have ids")?.iter().enumerate() {
        let Target::Real(payment) = all.target(record) else { continue };
        let (x, y) = rows.entry(hospital).or_default();
        x.extend(all.row(record).iter().zip(UNITS).map(|(value, unit)| value / unit));
        y.push(payment / PAYMENT);
    }
    let one = |(x, y): (Vec<f32>, Vec<f32>)| Dataset::new(x, UNITS.len(), Targets::Real(y));
    Ok(rows.into_values().map(one).collect::<Result<_, _>>()?)
}

/// Squared errors of own intercept, shared model and mean of the other records, for each hospital that did not train.
fn errors(hospitals: &[Dataset], epsilon: &str, seed: u64) -> Result<Vec<Errors>, Box<dyn Error>> {
    let numbers = Dataset::new(
        vec![0.0; hospitals.len()],
        1,
        Targets::Real((0..hospitals.len()).map(|at| at as f32).collect()),
    )?;
    let cut = hold_out(&numbers, 0.3, seed, 0)?;
    let pick = |part: &Dataset| -> Vec<&Dataset> {
        (0..part.len())
            .filter_map(|at| {
                if let Target::Real(number) = part.target(at) { hospitals.get(number as usize) } else { None }
            })
            .collect()
    };
    let pairs = [
        "model.kind=linear",
        "rounds=100",
        "learning_rate=0.5",
        "privacy.clip_norm=0.1",
        "average=0.25",
        &format!("privacy.epsilon={epsilon}"),
        &format!("seed={seed}"),
    ];
    let setup = super::with_data(&pairs, pick(&cut.train).into_iter().cloned().collect(), None)?;
    let model = sim::simulate(&setup, &Options::default(), &mut |_| {}, &mut |_| {})?.models.remove(0);
    Ok(pick(&cut.test).into_iter().map(|hospital| of_hospital(&model, hospital)).collect())
}

fn of_hospital(model: &[f32], hospital: &Dataset) -> Errors {
    let records: Vec<(f64, f64)> = (0..hospital.len())
        .map(|record| {
            let Target::Real(payment) = hospital.target(record) else {
                unreachable!("all targets are payments")
            };
            let row = hospital.row(record).iter().chain([&1.0]);
            let predicted: f32 = row.zip(model).map(|(x, w)| x * w).sum();
            (f64::from(payment), f64::from(payment - predicted))
        })
        .collect();
    let others = (records.len() - 1) as f64;
    let (payments, residuals) =
        records.iter().fold((0.0, 0.0), |sums, record| (sums.0 + record.0, sums.1 + record.1));
    let judged = |&(payment, residual): &(f64, f64)| {
        let own = residual - (residuals - residual) / (others + 0.5);
        // Without another record there is nothing but the shared model.
        let mean = if others > 0.0 { payment - (payments - payment) / others } else { residual };
        [own, residual, mean].map(|error| error * error)
    };
    records.iter().map(judged).collect()
}

fn rmse<'a>(errors: impl Iterator<Item = &'a [f64; 3]>, kind: usize) -> f64 {
    let (sum, count) = errors.fold((0.0, 0), |(sum, count), error| (sum + error[kind], count + 1));
    (sum / f64::from(count)).sqrt()
}

/// Mean of the root mean squared errors of the tenth of the hospitals with the largest.
fn worst_tenth(run: &[Errors], kind: usize) -> f64 {
    let mut each: Vec<f64> = run.iter().map(|errors| rmse(errors.iter(), kind)).collect();
    each.sort_by(|a, b| b.total_cmp(a));
    let tenth = each.len().div_ceil(10);
    each[..tenth].iter().sum::<f64>() / tenth as f64
}
