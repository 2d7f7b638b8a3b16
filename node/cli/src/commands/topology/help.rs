//! Help texts: examples, and the families with their keys.

use std::fmt::Write;

use topology::{ATTEMPTS, ATTEMPTS_IF_LARGE, CATALOGUE, Entry, LARGE};

pub(super) const EXAMPLES: &str = "\
Examples:
  murmur topology karate
  murmur topology regular:1000,degree=6 --format json
  murmur topology file:friends.txt.gz --largest-component
  murmur topology grid:45x45 --format svg --out grid.svg
  murmur topology compare ring:64 torus:8x8 hypercube:64 regular:64,degree=4

`murmur topology --help` lists the families of graphs and their keys.";

/// The families, their keys and an example of each.
pub(super) fn families() -> String {
    let mut text = String::from("Graphs (family:size[,key=value…], an example of each):\n");
    let widest = CATALOGUE.iter().map(|entry| entry.example.chars().count()).max().unwrap_or(0);
    for entry in &CATALOGUE {
        writeln!(text, "  {:widest$}  {}", entry.example, entry.summary).expect("a string takes everything");
        for key in entry.keys {
            writeln!(text, "  {:widest$}    {}: {}", "", key.name, key.meaning)
                .expect("a string takes everything");
        }
    }
    text.push_str("\nEvery random family also takes:\n");
    let random =
        Entry::named("regular").into_iter().flat_map(|entry| entry.all_keys().skip(entry.keys.len()));
    for key in random {
        writeln!(text, "  {}: {}", key.name, key.meaning).expect("a string takes everything");
    }
    writeln!(
        text,
        "\nA random graph is drawn up to {ATTEMPTS} times ({ATTEMPTS_IF_LARGE} where nodes and edges are more than \
         {LARGE}) until it is connected.\nThe same spec is the same graph on every machine.\n"
    )
    .expect("a string takes everything");
    text.push_str(EXAMPLES.split("\n\n").next().unwrap_or_default());
    text
}
