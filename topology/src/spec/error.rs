//! What can be wrong with a spec, and what to write instead.

use thiserror::Error;

use super::catalogue::{CATALOGUE, Entry};
use crate::Hint;
use crate::error::TopologyError;
use crate::files::FileError;
use crate::graph::{MAX_EDGES, MAX_NODES};

/// An error in a spec or in making its graph. [`SpecError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A family that is not known.
    #[error("unknown family of graphs: `{name}`")]
    UnknownFamily {
        /// What was written.
        name: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
        /// Whether what was written is rather the name of a file.
        looks_like_path: bool,
    },
    /// No size after the family.
    #[error("`{family}` needs a size")]
    MissingSize {
        /// The family.
        family: &'static str,
    },
    /// A size that does not fit the family.
    #[error("`{family}:{size}`: {why}")]
    BadSize {
        /// The family.
        family: &'static str,
        /// What was written.
        size: String,
        /// What does not fit.
        why: String,
    },
    /// More than fits.
    #[error("`{spec}` would have {nodes} nodes and about {edges:.0} edges, more than this program takes")]
    TooLarge {
        /// What was written.
        spec: String,
        /// Nodes asked for.
        nodes: usize,
        /// Edges to expect.
        edges: f64,
    },
    /// A key that the family does not have.
    #[error("`{family}` has no key `{key}`")]
    UnknownKey {
        /// The family.
        family: &'static str,
        /// What was written.
        key: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// A key that the family needs.
    #[error("`{family}` needs the key {key}")]
    MissingKey {
        /// The family.
        family: &'static str,
        /// The key, or the keys of which one is needed.
        key: &'static str,
    },
    /// A key written twice, or two that exclude each other.
    #[error("`{family}`: {why}")]
    ConflictingKeys {
        /// The family.
        family: &'static str,
        /// Which keys.
        why: String,
    },
    /// A part that is not `key=value`.
    #[error("`{family}`: `{part}` is not of the form key=value")]
    NotAPair {
        /// The family.
        family: &'static str,
        /// What was written.
        part: String,
    },
    /// A value that does not fit.
    #[error("`{family}`: `{key}={value}`: {why}")]
    BadValue {
        /// The family.
        family: &'static str,
        /// The key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What does not fit.
        why: String,
    },
    /// A random family that was never connected.
    #[error(
        "`{spec}` was not connected in any of {attempts} attempts; the largest component had {largest} of {nodes} nodes"
    )]
    NeverConnected {
        /// The spec.
        spec: String,
        /// Attempts made.
        attempts: u64,
        /// Nodes of the largest component that came up.
        largest: usize,
        /// Nodes asked for.
        nodes: usize,
    },
    /// A graph that cannot be.
    #[error(transparent)]
    Graph(#[from] TopologyError),
    /// A file that is no graph.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Hint for SpecError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFamily { name, looks_like_path: true, .. } => {
                Some(format!("to read a list of edges from a file, write `file:{name}`"))
            }
            Self::UnknownFamily { nearest, .. } => Some(known_families(*nearest)),
            Self::MissingSize { family } => Some(format!("for example `{}`", example(family))),
            Self::BadSize { family, .. } => Some(format!("for example `{}`", example(family))),
            Self::TooLarge { .. } => Some(format!("the most are {MAX_NODES} nodes and {MAX_EDGES} edges")),
            Self::UnknownKey { family, nearest, .. } => Some(known_keys(family, *nearest)),
            Self::MissingKey { family, .. }
            | Self::ConflictingKeys { family, .. }
            | Self::NotAPair { family, .. } => Some(known_keys(family, None)),
            Self::BadValue { family, .. } => Some(format!("for example `{}`", example(family))),
            Self::NeverConnected { nodes, .. } => Some(format!(
                "join more pairs (a random graph on {nodes} nodes needs a mean degree above ln n = {:.1}), \
                 or add `connected=false`, or `--largest-component`",
                libm::log(*nodes as f64)
            )),
            Self::Graph(error) => error.hint(),
            Self::File(error) => error.hint(),
        }
    }
}

fn example(family: &str) -> &'static str {
    Entry::named(family).map_or("ring:100", |entry| entry.example)
}

fn known_families(nearest: Option<&str>) -> String {
    let names: Vec<_> = CATALOGUE.iter().map(|entry| entry.name).collect();
    let known = format!("known are {}", names.join(", "));
    match nearest {
        Some(name) => format!("did you mean `{name}` (`{}`)? {known}", example(name)),
        None => known,
    }
}

fn known_keys(family: &str, nearest: Option<&str>) -> String {
    let keys: Vec<_> = Entry::named(family)
        .into_iter()
        .flat_map(|entry| entry.all_keys())
        .map(|key| format!("`{}`: {}", key.name, key.meaning))
        .collect();
    let known = if keys.is_empty() { "it takes no keys".to_owned() } else { keys.join("; ") };
    let meant = nearest.map_or(String::new(), |name| format!("did you mean `{name}`? "));
    format!("{meant}{known}; for example `{}`", example(family))
}
