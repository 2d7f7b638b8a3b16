//! Dividing a data set among nodes: evenly, or with the kinds of skew that real participants have.
//!
//! Everything is seeded and the same on every machine; every record goes to exactly one node.

mod assignment;
mod error;
mod picture;
mod schemes;
mod skew;
mod spec;

pub use assignment::Assignment;
pub use error::PartitionError;
pub use skew::LabelTable;
pub use spec::{PartitionSpec, Scheme};

use crate::data::random::Draws;
use crate::data::{Dataset, Task};

impl PartitionSpec {
    /// Divides `data` among `nodes`.
    ///
    /// `dirichlet` draws may leave a node below `min_size`; then records move at random from the largest nodes,
    /// and [`Assignment::moved`] tells how many. The other schemes refuse instead, since moving a record would
    /// break what they promise.
    ///
    /// # Errors
    /// A parameter outside its range, too few records, a node that would get too little, or data without the
    /// classes or ids that the scheme needs.
    pub fn divide(&self, data: &Dataset, nodes: usize, seed: u64) -> Result<Assignment, PartitionError> {
        self.check()?;
        self.check_needs(data)?;
        // Before anything about records: who has three groups is not helped by a limit of a thousand records.
        if let Some(groups) = self.own_nodes(data).filter(|&groups| nodes > groups) {
            return Err(PartitionError::MoreNodesThanGroups { nodes, groups });
        }
        self.check_counts(data.len(), nodes)?;
        let mut draws = Draws::new(seed, "partition");
        let (parts, moved) = match self.scheme {
            Scheme::Iid => (schemes::iid(data.len(), nodes, &mut draws), 0),
            Scheme::Shards { per_node } => (schemes::shards(data, nodes, per_node, &mut draws)?, 0),
            Scheme::Dirichlet { alpha } => {
                let mut parts = schemes::dirichlet(data, nodes, alpha, &mut draws)?;
                let moved = schemes::fill_up(&mut parts, self.min_size, &mut draws);
                (parts, moved)
            }
            Scheme::Pathological { classes_per_node } => {
                (schemes::pathological(data, nodes, classes_per_node, &mut draws)?, 0)
            }
            Scheme::QuantitySkew { alpha } => {
                (schemes::quantity_skew(data.len(), nodes, (alpha, self.min_size), &mut draws), 0)
            }
            Scheme::Natural => (schemes::natural(data, nodes, &mut draws)?, 0),
        };
        self.check_parts(&parts)?;
        let names = (self.scheme == Scheme::Natural).then(|| schemes::group_names(data, nodes)).flatten();
        Ok(Assignment::new(parts, moved).with_names(names))
    }

    /// The number of nodes that the data themselves suggest: for `natural`, the number of ids.
    pub fn own_nodes(&self, data: &Dataset) -> Option<usize> {
        match self.scheme {
            Scheme::Natural => schemes::groups_with_records(data).map(|groups| groups.len()),
            _ => None,
        }
    }

    /// Whether the data have what the scheme divides by; said before anything about numbers.
    fn check_needs(&self, data: &Dataset) -> Result<(), PartitionError> {
        let scheme = self.scheme.name();
        match (self.scheme, data.task()) {
            (Scheme::Dirichlet { .. } | Scheme::Pathological { .. }, Task::Classification { .. }) => Ok(()),
            (Scheme::Dirichlet { .. } | Scheme::Pathological { .. }, _) => {
                Err(PartitionError::NeedsClasses { scheme })
            }
            (Scheme::Shards { .. }, Task::Unlabelled) => Err(PartitionError::NeedsTargets { scheme }),
            (Scheme::Natural, _) if data.group_names().is_none() => Err(PartitionError::NeedsGroups),
            _ => Ok(()),
        }
    }

    fn check_counts(&self, records: usize, nodes: usize) -> Result<(), PartitionError> {
        if nodes == 0 {
            let why = "must be at least 1".to_string();
            return Err(PartitionError::BadParameter { name: "nodes", value: "0".into(), why });
        }
        if nodes > records {
            return Err(PartitionError::MoreNodesThanRecords { nodes, records });
        }
        if self.min_size > records / nodes {
            return Err(PartitionError::TooFewRecords { records, nodes, min_size: self.min_size });
        }
        Ok(())
    }

    fn check_parts(&self, parts: &[Vec<u32>]) -> Result<(), PartitionError> {
        match parts.iter().position(|part| part.len() < self.min_size) {
            None => Ok(()),
            Some(node) => Err(PartitionError::PartTooSmall {
                node: format!("node {node}"),
                size: parts[node].len(),
                min_size: self.min_size,
            }),
        }
    }
}
