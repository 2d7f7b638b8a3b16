//! The configuration of a swarm, and what processes cannot do: refused before anything is started or written.

use crate::failure::{Failure, Result};
use protocol::config::{AlgorithmKind, Config, Layer, Place};
use std::path::Path;

/// The configuration of a file under flags, for real processes.
pub(super) fn configuration(
    file: Option<&Path>,
    set: &[String],
    nodes: Option<usize>,
    name: Option<&str>,
) -> Result<Config> {
    let config = Config::from_layers(layers(file, set, nodes, name)?)?;
    for_processes(&config)?;
    Ok(config)
}

/// The same where every member brings records of its own: what nobody has said follows from what is public.
pub(super) fn configuration_by_rule(
    file: Option<&Path>,
    set: &[String],
    nodes: Option<usize>,
    name: Option<&str>,
) -> Result<Config> {
    let said = configuration(file, set, nodes, name)?;
    let mut rule = Layer::default();
    for (key, value) in protocol::recommended(&said) {
        rule.set(key, &value, Place::Flag { text: format!("{key} = {value}, by rule") })?;
    }
    let all = std::iter::once(rule).chain(layers(file, set, nodes, name)?);
    Ok(Config::from_layers(all)?)
}

fn layers(
    file: Option<&Path>,
    set: &[String],
    nodes: Option<usize>,
    name: Option<&str>,
) -> Result<Vec<Layer>> {
    let mut layers = vec![Layer::with_masks()?];
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::from(error).context(format!("cannot read `{}`", path.display())))?;
        layers.push(Layer::from_toml(&text, &path.display().to_string())?);
    }
    layers.push(Layer::from_flags("--set", set)?);
    let mut flags = Layer::default();
    if let Some(nodes) = nodes {
        flags.set("nodes", &nodes.to_string(), Place::Flag { text: format!("--nodes {nodes}") })?;
    }
    if let Some(name) = name {
        // In quotes: a name may look like a number or a date.
        let quoted = serde_json::Value::from(name).to_string();
        flags.set("name", &quoted, Place::Flag { text: format!("--name {name}") })?;
    }
    layers.push(flags);
    Ok(layers)
}

/// Refuses what only the simulator does: between processes it would be another run than the one that was asked for.
pub(crate) fn for_processes(config: &Config) -> Result<()> {
    let kind = config.algorithm.kind;
    if kind.is_comparison() {
        let real: Vec<&str> = AlgorithmKind::ALL
            .iter()
            .filter(|(_, kind)| !kind.is_comparison())
            .map(|(name, _)| *name)
            .collect();
        let name = kind.name();
        let text = format!("`algorithm.kind = {name:?}` exists only in the simulator, to compare with");
        let hint = format!(
            "run it with `murmur sim --set algorithm.kind={name}`; between processes there are {}",
            real.join(", ")
        );
        return Err(Failure::new(text).hint(hint));
    }
    if config.nodes < 2 {
        let text = format!("a swarm has at least two nodes: `nodes = {}`", config.nodes);
        return Err(Failure::new(text).hint(
            "`--nodes 2` or more; what one node learns alone: `murmur sim --set algorithm.kind=alone`",
        ));
    }
    let faults = faults(config);
    if !faults.is_empty() {
        let text = format!("real processes and links have faults of their own, but {} set", listed(&faults));
        return Err(Failure::new(text).hint(
            "leave `faults` out, or simulate the run with them: `murmur sim` takes the same configuration",
        ));
    }
    Ok(())
}

/// The keys of `faults` that differ from a run without any, as `key = value`.
fn faults(config: &Config) -> Vec<String> {
    let lines = |config: &Config| -> Vec<String> {
        let text = config.to_toml();
        let section = text.lines().skip_while(|line| !line.starts_with("[faults]")).skip(1);
        section.take_while(|line| !line.starts_with('[')).map(str::to_owned).collect()
    };
    let quiet = lines(&Config::default());
    lines(config).into_iter().filter(|line| !line.is_empty() && !quiet.contains(line)).collect()
}

fn listed(lines: &[String]) -> String {
    let names: Vec<String> = lines.iter().map(|line| format!("`faults.{line}`")).collect();
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(set: &[&str], nodes: Option<usize>) -> String {
        let set: Vec<String> = set.iter().map(|&word| word.to_owned()).collect();
        configuration(None, &set, nodes, None).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_only_the_simulator_does_is_refused_by_name() {
        for (name, _) in AlgorithmKind::ALL.iter().filter(|(_, kind)| kind.is_comparison()) {
            let text = refusal(&[&format!("algorithm.kind={name}")], None);
            assert!(text.contains(&format!("algorithm.kind = \"{name}\"")), "{text}");
            assert!(text.contains(&format!("`murmur sim --set algorithm.kind={name}`")), "{text}");
        }
        let text = refusal(&["faults.drop_prob=0.1", "faults.delay=\"20ms\""], None);
        assert!(text.contains("`faults.drop_prob = 0.1`") && text.contains("faults.delay"), "{text}");
        assert!(text.contains("murmur sim"), "{text}");
        let crash = refusal(&["faults.crash=[{nodes=[1],at=\"1s\"}]"], None);
        assert!(crash.contains("faults.crash"), "{crash}");
    }

    #[test]
    fn a_swarm_has_two_nodes_and_an_error_names_the_flag() {
        let text = refusal(&[], Some(1));
        assert!(text.contains("nodes = 1") && text.contains("hint:"), "{text}");
        let text = refusal(&[], Some(0));
        assert!(text.contains("`--nodes 0` on the command line"), "{text}");
    }

    #[test]
    fn a_name_may_look_like_anything() {
        for name in ["2024-01-01", "7", "true", "Clinic é.2"] {
            assert_eq!(configuration(None, &[], None, Some(name)).unwrap().name, name);
        }
    }
}
