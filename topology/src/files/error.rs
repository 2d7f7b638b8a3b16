//! What can be wrong with a file of edges.

use std::path::Path;

use thiserror::Error;

use crate::Hint;
use crate::components::Components;
use crate::error::TopologyError;

/// An error of reading a graph. [`FileError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be opened or read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line that is not an edge.
    #[error("`{path}`, line {line}: {why}: `{text}`")]
    Malformed {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The line itself, shortened.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing but comments.
    #[error("`{path}` holds no edges")]
    Empty {
        /// The file.
        path: String,
    },
    /// More than one component.
    #[error("`{path}` is not connected: {components} components, of {sizes} nodes")]
    Disconnected {
        /// The file.
        path: String,
        /// Number of components.
        components: usize,
        /// Their sizes from the largest, as text.
        sizes: String,
    },
    /// A graph that cannot be.
    #[error("`{path}` cannot be made a graph")]
    Graph {
        /// The file.
        path: String,
        /// Why not.
        source: TopologyError,
    },
}

/// Sizes of components named in an error before the rest is summed up.
const SIZES_NAMED: usize = 8;

impl FileError {
    /// The error for a file with several components.
    pub fn disconnected(path: &Path, components: &Components) -> Self {
        let sorted = components.sorted_sizes();
        let mut sizes: Vec<String> = sorted.iter().take(SIZES_NAMED).map(usize::to_string).collect();
        if sorted.len() > SIZES_NAMED {
            sizes.push(format!("… ({} more)", sorted.len() - SIZES_NAMED));
        }
        let path = path.display().to_string();
        Self::Disconnected { path, components: components.count(), sizes: sizes.join(", ") }
    }
}

impl Hint for FileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => Some("write `file:PATH`, relative to the current folder or absolute".into()),
            Self::Malformed { .. } => Some(
                "a line is two node names and perhaps a weight, separated by spaces or commas; comments begin \
                 with # or %; the first line may be the number of nodes"
                    .into(),
            ),
            Self::Empty { .. } => Some("a line `0 1` joins the nodes 0 and 1".into()),
            Self::Disconnected { .. } => {
                Some("`--largest-component` takes the largest of them and leaves the others out".into())
            }
            Self::Graph { source, .. } => source.hint(),
        }
    }
}
