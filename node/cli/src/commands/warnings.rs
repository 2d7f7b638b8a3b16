//! What saves first tries: said once, before anything is spent. Nothing of it is sent to anybody.

use crate::output::say;
use learn::data::Dataset;
use learn::gradient::Persons;
use protocol::Setup;
use protocol::work::Adjacency;

/// Rows so many times above the clip norm are cut to almost nothing.
const FAR_ABOVE: f64 = 10.0;
/// A class with fewer records than one in so many is hardly learnt.
const ALMOST_ABSENT: usize = 100;
/// ε above which little is promised.
const WEAK: f64 = 10.0;

/// Everything worth a second look about a run on these data.
pub(crate) fn about(setup: &Setup) -> Vec<String> {
    let privacy = &setup.config.privacy;
    let persons = privacy.adjacency == Adjacency::Person;
    let count = |data: &Dataset| match Persons::of(data).filter(|_| persons) {
        Some(persons) => persons.len(),
        None => data.len(),
    };
    let (units, what) =
        (setup.train.iter().map(count).min().unwrap_or(0), if persons { "persons" } else { "records" });
    let mut found = Vec::new();
    if privacy.epsilon.is_some_and(|epsilon| epsilon > WEAK && epsilon.is_finite()) {
        found.push(format!(
            "`privacy.epsilon = {}` is above {WEAK}: little is promised in the worst case",
            privacy.epsilon.unwrap_or(WEAK)
        ));
    }
    let is_private = privacy.epsilon.is_none_or(f64::is_finite) && privacy.noise_multiplier != Some(0.0);
    if is_private && privacy.adjacency.is_sampled() && privacy.delta * units as f64 >= 1.0 {
        found.push(format!(
            "`privacy.delta = {}` is not below one over the {units} {what} of a node: it would allow to publish a whole one now and then",
            privacy.delta
        ));
    }
    if setup.config.algorithm.kind.trains() {
        found.extend(match &setup.train[..] {
            [own] => of_data(own, privacy.clip_norm),
            // Shares of one data set: what classes one of them has says little.
            [first, ..] => long_rows(first, privacy.clip_norm).into_iter().collect(),
            [] => Vec::new(),
        });
    }
    found
}

/// What is unusual about the records themselves.
pub(crate) fn of_data(data: &Dataset, clip_norm: f64) -> Vec<String> {
    let mut found: Vec<String> = long_rows(data, clip_norm).into_iter().collect();
    let (Some(labels), Some(classes)) = (data.labels(), data.classes()) else { return found };
    let mut counts = vec![0usize; classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    if classes == 1 {
        let name = data.class_names().map_or_else(|| "0".into(), |names| names[0].clone());
        found.push(format!("all records have the label `{name}`: there is nothing to tell apart"));
    }
    for (class, &count) in counts.iter().enumerate() {
        if count * ALMOST_ABSENT < data.len() {
            let name = data.class_names().map_or_else(|| class.to_string(), |names| names[class].clone());
            found.push(format!("class `{name}` is almost absent here: {count} of {} records", data.len()));
        }
    }
    found
}

fn long_rows(data: &Dataset, clip_norm: f64) -> Option<String> {
    let norm = median_norm(data);
    (norm > FAR_ABOVE * clip_norm).then(|| {
        format!(
            "half of the rows have a norm above {norm:.0}, and gradients are cut to `privacy.clip_norm = {clip_norm}`: bring the columns to comparable ranges, by a schema with bounds or `scale=NAME@LOW..HIGH`"
        )
    })
}

fn median_norm(data: &Dataset) -> f64 {
    let square = |record: usize| data.row(record).iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
    let mut norms: Vec<f64> = (0..data.len()).map(|record| square(record).sqrt()).collect();
    norms.sort_by(f64::total_cmp);
    norms.get(norms.len() / 2).copied().unwrap_or(0.0)
}

/// Says them on stderr.
pub(crate) fn say(warnings: &[String]) {
    warnings.iter().for_each(|warning| say!("warning: {warning}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use learn::data::Targets;

    #[test]
    fn long_rows_and_absent_classes_are_named_and_ordinary_data_are_not() {
        let made = |scale: f32, rare: usize| {
            let labels = (0..1000).map(|record| u32::from(record < rare)).collect();
            let values = (0..1000).map(|record| scale * (record % 7) as f32).collect();
            Dataset::new(values, 1, Targets::Class { labels, classes: 2 }).unwrap()
        };
        assert!(of_data(&made(1.0, 300), 0.5).is_empty());
        let long = of_data(&made(1000.0, 300), 0.5);
        assert!(long.len() == 1 && long[0].contains("clip_norm = 0.5"), "{long:?}");
        let rare = of_data(&made(1.0, 3), 0.5);
        assert!(rare.len() == 1 && rare[0].contains("`1` is almost absent here: 3 of 1000"), "{rare:?}");
        let alike = Targets::Class { labels: vec![0; 10], classes: 1 };
        let alike = of_data(&Dataset::new(vec![0.5; 10], 1, alike).unwrap(), 0.5);
        assert!(alike.len() == 1 && alike[0].contains("nothing to tell apart"), "{alike:?}");
    }
}
