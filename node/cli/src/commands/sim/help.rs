//! Help texts: examples, the keys of a configuration, and what the JSON means.

use protocol::config::keys;

pub(super) const EXAMPLES: &str = "\
Examples:
  murmur sim
  murmur sim --set nodes=16 --set privacy.epsilon=4 --format json
  murmur sim run.toml --set algorithm.kind=gossip --set topology=torus
  murmur sim --sweep algorithm.kind=rounds,central,local,alone --seeds 5
  murmur sim --sweep privacy.epsilon=1,2,4 --seeds 5 --out sweep --format svg > sweep.svg
  murmur sim --sweep 'topology=ring;regular,degree=6' --set algorithm.kind=gossip
  murmur sim --dump-config > run.toml

`murmur sim --help` lists the keys of a configuration.";

const RESULTS: &str = "\
Results:
  A run makes the folder DIR/NAME (NAME-2, … where that exists): config.toml, log.jsonl, metrics.csv, model.safetensors, result.json.
  The same configuration and seed give the same log, byte for byte, with any number of threads.
  Noise is seeded: a simulation measures what a run would cost and protects nobody (`private` is false).

  --format json prints one object: algorithm, nodes, rounds, seed, run (the folder), test_acc (null for regression and `mean`), test_loss (for
  `mean`: the squared distance of a node's estimate to the true mean, averaged over nodes), consensus_distance (root mean squared distance of the
  models to their mean), bytes_per_node, broken_rounds, privacy {adjacency, delta, private, worst, mean, local}, each of the last three with epsilon,
  mu2 and the analysis that it comes from; epsilon is null where nothing limits the loss.
  With --sweep or --seeds: {\"runs\": [such objects with \"set\"], \"summary\": [for each point mean, spread, min and max over seeds]}.
  Values of --sweep are separated by commas; where a value has commas itself, by semicolons.
";

/// The keys, then the results, then the examples.
pub(super) fn long() -> String {
    let widest = keys().map(|key| key.name.len()).max().unwrap_or(0);
    let mut text = String::from(
        "Keys (in a file `[privacy]` and `epsilon = 2`, as a flag `--set privacy.epsilon=2`), with [defaults]:\n",
    );
    for key in keys() {
        let default = key.default().map_or_else(String::new, |value| format!(" [{value}]"));
        text.push_str(&format!("  {:widest$}  {}{default}\n", key.name, key.meaning));
    }
    text + "  Times are \"250ms\", \"1.5s\" or a number of seconds.\n\n" + RESULTS + "\n" + EXAMPLES
}
