//! Spec strings: `family:size[,key=value…]`, `file:PATH`, or the name of a built-in graph.
//!
//! Invariant: a [`Spec`] that was parsed describes a graph whose parameters fit together and whose size is one
//! that this program takes; the same spec gives the same graph on every machine.

mod catalogue;
mod error;
mod parameters;
mod parse;
mod suggest;

use std::fmt;
use std::path::PathBuf;

pub use catalogue::{CATALOGUE, Entry, Key};
pub use error::SpecError;

use crate::distance::DistanceSummary;
use crate::embedded::Embedded;
use crate::families::Family;
use crate::files;
use crate::graph::{Dropped, Graph};

/// How often a random family is drawn until it is connected.
pub const ATTEMPTS: u64 = 100;

/// How often where nodes and edges together are more than [`LARGE`], since each attempt takes a second.
pub const ATTEMPTS_IF_LARGE: u64 = 10;

/// Nodes and expected edges above which [`ATTEMPTS_IF_LARGE`] holds.
pub const LARGE: f64 = 1e6;

/// Where a graph comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// A family and its parameters.
    Family(Family),
    /// A list of edges on disk.
    File(PathBuf),
    /// A graph that comes with the program.
    Embedded(Embedded),
}

/// The description of a graph, made with [`str::parse`].
///
/// ```
/// let spec: topology::Spec = "regular:100,degree=4,seed=7".parse()?;
/// let graph = spec.build()?.graph;
/// assert_eq!((graph.nodes(), graph.edges()), (100, 200));
/// # Ok::<(), topology::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    source: Source,
    seed: u64,
    must_connect: bool,
    head: String,
    pairs: Vec<(String, String)>,
}

/// A graph made from a spec, and what happened on the way.
#[derive(Debug, Clone)]
pub struct Built {
    /// The graph.
    pub graph: Graph,
    /// What a file held beside a simple graph.
    pub dropped: Dropped,
    /// Graphs drawn until one was connected; 1 where nothing is random.
    pub attempts: u64,
    /// Nodes outside the largest component that were left out, where that was asked for.
    pub left_out: usize,
    vertex_transitive: bool,
}

impl Spec {
    /// Where the graph comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The family, unless the graph comes from a file or with the program.
    pub fn family(&self) -> Option<&Family> {
        match &self.source {
            Source::Family(family) => Some(family),
            _ => None,
        }
    }

    /// Whether the graph depends on the seed.
    pub fn is_random(&self) -> bool {
        self.family().is_some_and(Family::is_random)
    }

    /// The seed, 0 where none was given.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same random family with another seed; a spec that is not random stays as it is.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        if self.is_random() {
            self.seed = seed;
            self.pairs.retain(|(key, _)| key != "seed");
            self.pairs.push(("seed".to_owned(), seed.to_string()));
        }
        self
    }

    /// Makes the graph. It is connected unless the spec says `connected=false`.
    ///
    /// # Errors
    /// A random family that was never connected in [`ATTEMPTS`] attempts, a file that cannot be read or is not
    /// connected.
    pub fn build(&self) -> Result<Built, SpecError> {
        match &self.source {
            Source::Family(family) if self.must_connect && family.is_random() => self.draw(family),
            Source::File(path) => {
                let built = self.build_any()?;
                let components = built.graph.components();
                if components.count() > 1 {
                    return Err(files::FileError::disconnected(path, &components).into());
                }
                Ok(built)
            }
            _ => self.build_any(),
        }
    }

    /// Makes the graph and keeps its largest component, nodes in their order and with their names.
    ///
    /// # Errors
    /// As [`Spec::build`], but never for want of connection.
    pub fn build_largest_component(&self) -> Result<Built, SpecError> {
        let mut built = self.build_any()?;
        let nodes = built.graph.nodes();
        built.graph = built.graph.largest_component();
        built.left_out = nodes - built.graph.nodes();
        Ok(built)
    }

    /// Makes the graph of the first attempt, connected or not.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn build_any(&self) -> Result<Built, SpecError> {
        let (graph, dropped) = match &self.source {
            Source::Family(family) => (family.generate(self.seed, 0)?, Dropped::default()),
            Source::File(path) => files::read_edges(path)?,
            Source::Embedded(embedded) => (embedded.graph(), Dropped::default()),
        };
        let vertex_transitive = self.family().is_some_and(Family::is_vertex_transitive);
        Ok(Built { graph, dropped, attempts: 1, left_out: 0, vertex_transitive })
    }

    fn draw(&self, family: &Family) -> Result<Built, SpecError> {
        let size = family.nodes() as f64 + family.expected_edges();
        let attempts = if size > LARGE { ATTEMPTS_IF_LARGE } else { ATTEMPTS };
        let mut largest = 0;
        for attempt in 0..attempts {
            let graph = family.generate(self.seed, attempt)?;
            let components = graph.components();
            if components.count() == 1 {
                let (dropped, left_out) = (Dropped::default(), 0);
                return Ok(Built {
                    graph,
                    dropped,
                    attempts: attempt + 1,
                    left_out,
                    vertex_transitive: false,
                });
            }
            largest = largest.max(components.sizes()[components.largest()]);
        }
        Err(SpecError::NeverConnected { spec: self.to_string(), attempts, largest, nodes: family.nodes() })
    }
}

impl Built {
    /// Mean and largest distance, by symmetry where the family is known to look the same from every node.
    pub fn distance_summary(&self) -> Option<DistanceSummary> {
        if self.vertex_transitive {
            self.graph.distance_summary_by_symmetry()
        } else {
            self.graph.distance_summary()
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        self.pairs.iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}
