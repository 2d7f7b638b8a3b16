//! What is a node's own after a run: the model of its slot, and one made from it on its own records. Nothing of it enters a message.

use learn::personal::Own;
pub use learn::personal::{Figures, Measure};
use learn::train::TrainError;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Setup;
use crate::work::own_slot;

/// The models of one node at the end of a run: as secret as its records.
#[derive(Debug, Clone)]
pub struct Mine {
    /// Which of the shared models is the node's.
    pub slot: usize,
    /// That model.
    pub shared: Vec<f32>,
    /// What was made from it; `None` where nothing was asked for.
    pub own: Option<Own>,
    /// How good they are on the node's own test part, where it has one.
    pub figures: Option<Figures>,
}

/// Makes the models of a node from what all have trained; `node` counts the nodes of this process.
///
/// # Guarantee
/// Nothing is released: reads the shared models and the node's own records.
///
/// # Errors
/// Models that do not fit the records.
///
/// # Panics
/// Where there is no such node.
pub fn mine(setup: &Setup, node: usize, trained: &[f32]) -> Result<Mine, TrainError> {
    let (model, train, layout) = (setup.model.as_ref(), &setup.train[node], &setup.layout);
    let slot = own_slot(model, layout, trained, train)?;
    let shared = layout.part(trained, slot).to_vec();
    let Some(personal) = &setup.personal else {
        return Ok(Mine { slot, shared, own: None, figures: None });
    };
    let first = layout.part(setup.settings.initial.as_slice(), slot);
    let own = personal.fit(model, (&shared, first), train)?;
    let figures = match setup.own_tests.get(node) {
        Some(test) => {
            Figures::of(model, (&shared, &own), test).map_err(learn::gradient::GradientError::from)?
        }
        None => None,
    };
    Ok(Mine { slot, shared, own: Some(own), figures })
}

/// Means over nodes of each one's figures on its own test part, and the mean of the worst tenth of the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonalResult {
    measure: Measure,
    means: [f64; 3],
    worst_tenth: [f64; 3],
    pooled: [f64; 3],
    nodes: usize,
}

const NAMES: [&str; 3] = ["personal", "shared", "alone"];

impl PersonalResult {
    /// Of the figures of some nodes; `None` where there are none.
    pub fn of(figures: &[Figures]) -> Option<Self> {
        let measure = figures.first()?.measure;
        let column = |at: usize| -> Vec<f64> {
            let mut values: Vec<f64> = figures.iter().map(|figures| value(figures, at)).collect();
            // The worst first.
            values.sort_by(|a, b| if measure == Measure::Accuracy { a.total_cmp(b) } else { b.total_cmp(a) });
            values
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let tenth = figures.len().div_ceil(10);
        Some(Self {
            measure,
            means: [0, 1, 2].map(|at| mean(&column(at))),
            worst_tenth: [0, 1, 2].map(|at| mean(&column(at)[..tenth])),
            pooled: [0, 1, 2].map(|at| pooled(figures, at)),
            nodes: figures.len(),
        })
    }

    /// What is counted.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Means of the personal, the shared and the lonely models.
    pub fn means(&self) -> [f64; 3] {
        self.means
    }

    /// The same over the tenth of the nodes that each serves worst.
    pub fn worst_tenth(&self) -> [f64; 3] {
        self.worst_tenth
    }

    /// The same over all records of all test parts, each counted once.
    pub fn pooled(&self) -> [f64; 3] {
        self.pooled
    }

    /// Nodes with a test part.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

/// A figure by the place of its name.
fn value(figures: &Figures, at: usize) -> f64 {
    [figures.personal, figures.shared, figures.alone][at]
}

/// A figure over the records of all nodes: errors add up squared.
fn pooled(figures: &[Figures], at: usize) -> f64 {
    let records: f64 = figures.iter().map(|figures| figures.records as f64).sum();
    let power = |figures: &Figures| match figures.measure {
        Measure::Accuracy => value(figures, at),
        Measure::Rmse => value(figures, at).powi(2),
    };
    let mean = figures.iter().map(|one| power(one) * one.records as f64).sum::<f64>() / records;
    if figures.first().is_some_and(|one| one.measure == Measure::Rmse) { mean.sqrt() } else { mean }
}

/// `personal_acc`, `shared_acc`, `alone_acc` (or `…_rmse`), `nodes`, each figure of the worst tenth, and each over all records.
impl Serialize for PersonalResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = match self.measure {
            Measure::Accuracy => "acc",
            Measure::Rmse => "rmse",
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, mean) in NAMES.iter().zip(self.means) {
            map.serialize_entry(&format!("{name}_{word}"), &mean)?;
        }
        map.serialize_entry("nodes", &self.nodes)?;
        for (name, mean) in NAMES.iter().zip(self.worst_tenth) {
            map.serialize_entry(&format!("{name}_{word}_worst_tenth"), &mean)?;
        }
        for (name, mean) in NAMES.iter().zip(self.pooled) {
            map.serialize_entry(&format!("{name}_{word}_pooled"), &mean)?;
        }
        map.end()
    }
}

/// How a simulation's nodes divided themselves among several models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClustersResult {
    /// How many models.
    pub slots: usize,
    /// Whether no two groups ended in one slot, where it is known who belongs together.
    pub unmixed: Option<bool>,
}

impl ClustersResult {
    /// From the slot and, where it is known, the group of each node.
    pub fn of(slots: usize, taken: &[(usize, usize)], groups_are_known: bool) -> Self {
        let apart = |a: &(usize, usize), b: &(usize, usize)| a.0 != b.0 || a.1 == b.1;
        let unmixed = groups_are_known.then(|| taken.iter().all(|a| taken.iter().all(|b| apart(a, b))));
        Self { slots, unmixed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_means_over_nodes_and_the_worst_tenth_is_worse() {
        let of = |measure, personal: f64| Figures { measure, shared: 0.5, personal, alone: 0.25, records: 3 };
        let all: Vec<Figures> = (0..20).map(|at| of(Measure::Accuracy, f64::from(at) / 20.0)).collect();
        let result = PersonalResult::of(&all).unwrap();
        assert!((result.means()[0] - 0.475).abs() < 1e-12 && (result.worst_tenth()[0] - 0.025).abs() < 1e-12);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!((json["nodes"].as_u64(), json["alone_acc"].as_f64()), (Some(20), Some(0.25)));
        let errors = PersonalResult::of(&[of(Measure::Rmse, 1.0), of(Measure::Rmse, 3.0)]).unwrap();
        assert_eq!((errors.means()[0], errors.worst_tenth()[0]), (2.0, 3.0));
        // √((3·1² + 3·3²)/6), and (0.2·3 + 1·9)/12 for records that are not as many everywhere.
        assert!((errors.pooled()[0] - 5f64.sqrt()).abs() < 1e-12);
        let uneven = [of(Measure::Accuracy, 0.2), Figures { records: 9, ..of(Measure::Accuracy, 1.0) }];
        assert!((PersonalResult::of(&uneven).unwrap().pooled()[0] - 0.8).abs() < 1e-12);
        assert!(serde_json::to_string(&errors).unwrap().contains("personal_rmse"));
        assert_eq!(PersonalResult::of(&[]), None);
    }

    #[test]
    fn groups_are_mixed_where_two_of_them_share_a_slot() {
        // Slot, group.
        assert_eq!(ClustersResult::of(3, &[(0, 0), (1, 1), (2, 1), (0, 0)], true).unmixed, Some(true));
        assert_eq!(ClustersResult::of(3, &[(0, 0), (0, 1)], true).unmixed, Some(false));
        assert_eq!(ClustersResult::of(3, &[(0, 0), (0, 1)], false).unmixed, None);
    }
}
