//! Why a data set cannot be divided as asked.

use thiserror::Error;
use topology::Hint;

/// An error of describing or making a partition. [`PartitionError::hint`] says what to try instead.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// Text that describes no partition.
    #[error("cannot understand the partition `{spec}`: {why}")]
    BadSpec {
        /// The text given.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// A parameter outside its range.
    #[error("`{name} = {value}` {why}")]
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        why: String,
    },
    /// Fewer records than nodes.
    #[error("{nodes} nodes cannot share {records} records: a node would be left without any")]
    MoreNodesThanRecords {
        /// Nodes asked for.
        nodes: usize,
        /// Records that there are.
        records: usize,
    },
    /// Not enough records for the least size, however they are divided.
    #[error("{records} records are too few for {nodes} nodes with at least {min_size} records each")]
    TooFewRecords {
        /// Records that there are.
        records: usize,
        /// Nodes asked for.
        nodes: usize,
        /// Records that each should have.
        min_size: usize,
    },
    /// A node that gets too little under this scheme.
    #[error("{node} would get {size} records, fewer than the {min_size} that each node needs")]
    PartTooSmall {
        /// The node, or the group that it stands for.
        node: String,
        /// Records that it would get.
        size: usize,
        /// Records that it should have.
        min_size: usize,
    },
    /// A scheme by label for data without classes.
    #[error("`{scheme}` divides by class, but the data have no classes")]
    NeedsClasses {
        /// The scheme.
        scheme: &'static str,
    },
    /// A scheme by target for data without targets.
    #[error("`{scheme}` sorts by target, but the data have no targets")]
    NeedsTargets {
        /// The scheme.
        scheme: &'static str,
    },
    /// `natural` for data without an id column.
    #[error("`natural` divides by whom records belong to, but the data have no id column")]
    NeedsGroups,
    /// More nodes than groups.
    #[error("{nodes} nodes cannot share {groups} groups, which stay together")]
    MoreNodesThanGroups {
        /// Nodes asked for.
        nodes: usize,
        /// Groups that there are.
        groups: usize,
    },
    /// Too few places for all classes.
    #[error("{nodes} nodes with {classes_per_node} classes each cannot hold all {classes} classes")]
    ClassesLeftOver {
        /// Nodes asked for.
        nodes: usize,
        /// Classes of each.
        classes_per_node: usize,
        /// Classes that have records.
        classes: usize,
    },
}

impl Hint for PartitionError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::BadSpec { .. } => Some(
                "use iid, shards:per_node=2, dirichlet:alpha=0.5, pathological:classes_per_node=2, \
                 quantity-skew:alpha=0.5 or natural, each also with min_size=N"
                    .into(),
            ),
            Self::MoreNodesThanRecords { records, .. } => Some(format!("use at most {records} nodes")),
            Self::TooFewRecords { records, nodes, .. } => {
                Some(format!("use a `min_size` of at most {}, or fewer nodes", records / nodes.max(&1)))
            }
            Self::PartTooSmall { .. } => Some("use fewer nodes or a smaller `min_size`".into()),
            Self::NeedsClasses { .. } => {
                Some("use `shards`, which also sorts by a real target, or `iid`".into())
            }
            Self::NeedsTargets { .. } => Some("use `iid` or `quantity-skew`".into()),
            Self::NeedsGroups => Some("name the column with `id=COLUMN` in the data source".into()),
            Self::MoreNodesThanGroups { groups, .. } => Some(format!("use at most {groups} nodes")),
            Self::ClassesLeftOver { nodes, classes, .. } => {
                Some(format!("use `classes_per_node={}` or more", classes.div_ceil((*nodes).max(1))))
            }
            Self::BadParameter { .. } => None,
        }
    }
}
