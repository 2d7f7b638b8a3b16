//! What can be written in a spec: names, sizes, keys, examples. Errors, suggestions and help read this table.

/// A key of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means, with its default where it has one.
    pub meaning: &'static str,
}

/// A family, or another way to name a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What stands before the colon.
    pub name: &'static str,
    /// What kind of graph it is.
    pub summary: &'static str,
    /// Its keys, beside those that all random families have.
    pub keys: &'static [Key],
    /// Whether it takes `seed` and `connected`.
    pub random: bool,
    /// A spec that works.
    pub example: &'static str,
}

impl Entry {
    /// All keys that the family takes.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        let random: &[Key] = if self.random { &RANDOM_KEYS } else { &[] };
        self.keys.iter().chain(random)
    }

    /// The entry called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|entry| entry.name == name)
    }
}

const RANDOM_KEYS: [Key; 2] = [
    key("seed", "which graph of the family, a whole number (default 0)"),
    key("connected", "`false` to take the first draw even if it is not connected (default true)"),
];

/// Everything that a spec can begin with.
pub const CATALOGUE: [Entry; 23] = [
    fixed("ring", "a cycle", "ring:100", &[]),
    fixed("path", "a line", "path:100", &[]),
    fixed("complete", "everyone joined to everyone", "complete:64", &[]),
    fixed("star", "node 0 joined to everyone", "star:64", &[]),
    fixed("grid", "rows × columns", "grid:45x45", &[]),
    fixed("torus", "a grid whose opposite sides are joined", "torus:32x32", &[]),
    fixed(
        "hypercube",
        "nodes whose numbers differ in one bit; the size is a power of two",
        "hypercube:256",
        &[],
    ),
    fixed(
        "tree",
        "a complete tree, filled level by level",
        "tree:127,branch=2",
        &[key("branch", "children of an inner node (default 2)")],
    ),
    fixed("exponential", "i joined to i ± 2^k mod n", "exponential:100", &[]),
    random(
        "regular",
        "random, the same degree everywhere",
        "regular:1000,degree=6",
        &[key("degree", "neighbours of every node; nodes × degree is even")],
    ),
    random(
        "erdos-renyi",
        "every pair joined with probability p",
        "erdos-renyi:200,mean_degree=8",
        &[
            key("p", "probability of a pair, 0 to 1"),
            key("mean_degree", "instead of p: expected neighbours of a node"),
        ],
    ),
    random(
        "watts-strogatz",
        "small world: a ring with shortcuts",
        "watts-strogatz:500,k=6,beta=0.1",
        &[key("k", "neighbours on the ring, even"), key("beta", "share of edges sent elsewhere, 0 to 1")],
    ),
    random(
        "barabasi-albert",
        "preferential attachment",
        "barabasi-albert:500,m=3",
        &[key("m", "edges of each newcomer")],
    ),
    random(
        "geometric",
        "points in the unit square that hear each other",
        "geometric:300,radius=0.12",
        &[key("radius", "largest distance of neighbours, above 0, up to 1.415")],
    ),
    random(
        "sbm",
        "stochastic block model: communities",
        "sbm:300,blocks=3,p_in=0.2,p_out=0.01",
        &[
            key("blocks", "number of equal blocks"),
            key("p_in", "probability of a pair inside a block, 0 to 1"),
            key("p_out", "probability of a pair across blocks, 0 to 1"),
        ],
    ),
    fixed(
        "cliques",
        "cliques in a ring, each joined to the next by one edge",
        "cliques:100,clique=5",
        &[key("clique", "nodes of a clique (default 5); sizes differ by at most one")],
    ),
    random("k-out", "every node picks k others", "k-out:500,k=3", &[key("k", "picks of each node")]),
    fixed(
        "harary",
        "k-connected with the fewest edges",
        "harary:100,k=5",
        &[key("k", "connectivity, from 2 to n − 1")],
    ),
    fixed("file", "a list of edges on disk, plain or gzip", "file:graph.edges", &[]),
    fixed("karate", "built in: Zachary's karate club, 34 nodes", "karate", &[]),
    fixed("florentine", "built in: marriages of Florentine families, 15 nodes", "florentine", &[]),
    fixed("davis", "built in: southern women and their events, 32 nodes", "davis", &[]),
    fixed("les-miserables", "built in: characters of Les Misérables, 77 nodes", "les-miserables", &[]),
];

const fn key(name: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning }
}

const fn fixed(
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    keys: &'static [Key],
) -> Entry {
    Entry { name, summary, keys, random: false, example }
}

const fn random(
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    keys: &'static [Key],
) -> Entry {
    Entry { name, summary, keys, random: true, example }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn every_example_of_the_catalogue_is_a_spec_that_builds() {
        for entry in CATALOGUE.iter().filter(|entry| entry.name != "file") {
            let spec: Spec = entry.example.parse().unwrap_or_else(|e| panic!("{}: {e}", entry.name));
            assert_eq!(spec.to_string(), entry.example);
            assert!(spec.build().unwrap().graph.is_connected(), "{}", entry.name);
        }
    }
}
