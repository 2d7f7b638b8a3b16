//! Four small social networks that come with the program; their sources are in `data/NOTICE.md`.

use crate::files::{self, FileError};
use crate::graph::Graph;

/// A graph that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Embedded {
    /// Zachary's karate club, 34 nodes.
    Karate,
    /// Marriages of Florentine families, 15 nodes.
    Florentine,
    /// Southern women and the events they came to, 32 nodes.
    Davis,
    /// Characters of Les Misérables, 77 nodes.
    LesMiserables,
}

impl Embedded {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Karate, Self::Florentine, Self::Davis, Self::LesMiserables];

    /// The spec that stands for the graph.
    pub fn name(self) -> &'static str {
        match self {
            Self::Karate => "karate",
            Self::Florentine => "florentine",
            Self::Davis => "davis",
            Self::LesMiserables => "les-miserables",
        }
    }

    /// The graph.
    pub fn graph(self) -> Graph {
        let text = match self {
            Self::Karate => include_str!("../data/karate.edges"),
            Self::Florentine => include_str!("../data/florentine_families.edges"),
            Self::Davis => include_str!("../data/davis_southern_women.edges"),
            Self::LesMiserables => include_str!("../data/les_miserables.edges"),
        };
        let read: Result<_, FileError> = files::parse_edges(text.as_bytes(), self.name());
        read.expect("the files are part of the program and tested").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes as published (and as in `data/NOTICE.md`).
    #[test]
    fn built_in_graphs_have_their_published_sizes_and_are_connected() {
        for (graph, size) in Embedded::ALL.into_iter().zip([(34, 78), (15, 20), (32, 89), (77, 254)]) {
            let made = graph.graph();
            assert_eq!((made.nodes(), made.edges()), size, "{graph:?}");
            assert!(made.is_connected() && made.labels().is_none());
        }
    }
}
