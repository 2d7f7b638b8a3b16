//! What the nodes of a run must have in common to add up their contributions.

use learn::data::{Dataset, Task};

/// The form of contributions and of the records behind them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form {
    /// Numbers of a contribution.
    pub parameters: usize,
    /// Numbers per record.
    pub features: usize,
    /// What is to be predicted: `classes`, `numbers` or `nothing`.
    pub target: &'static str,
    /// Number of classes.
    pub classes: Option<usize>,
    /// Names of the features, in order, where they have names.
    pub feature_names: Option<Vec<String>>,
    /// Names of the classes, in order, where they have names.
    pub class_names: Option<Vec<String>>,
}

impl Form {
    /// Contributions of so many numbers, made of records like these.
    pub fn of(data: &Dataset, parameters: usize) -> Self {
        let target = match data.task() {
            Task::Classification { .. } => "classes",
            Task::Regression => "numbers",
            Task::Unlabelled => "nothing",
        };
        Self {
            parameters,
            features: data.columns(),
            target,
            classes: data.classes(),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            class_names: data.class_names().map(<[String]>::to_vec),
        }
    }
}
