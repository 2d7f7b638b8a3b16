//! The names in the folder of a run: `runs/<name>/` of a simulation or a swarm, and the state folder of one node.

use std::path::{Path, PathBuf};

/// The effective configuration.
pub const CONFIG: &str = "config.toml";
/// The run log; a long one goes on in more [pieces](crate::log::piece).
pub const LOG: &str = "log.jsonl";
/// One row per round of a simulation.
pub const METRICS: &str = "metrics.csv";
/// The model.
pub const MODEL: &str = "model.safetensors";
/// A node's own model, made of its own records: as secret as they are.
pub const PERSONAL: &str = "personal.safetensors";
/// How good a node's models are on its own test part.
pub const PERSONAL_FIGURES: &str = "personal.json";
/// What proves it: the last decision of the members, with their signatures.
pub const DECISION: &str = "model.decision";
/// The figures of a run.
pub const RESULT: &str = "result.json";
/// Who may join a swarm.
pub const SWARM: &str = "swarm.toml";

/// The folder in which the folders of nodes lie.
const NODES: &str = "nodes";

/// The folder of a node in that of its swarm.
pub fn node(run: &Path, node: usize) -> PathBuf {
    run.join(NODES).join(node.to_string())
}

/// The folders of nodes that are there, in the order of their numbers; a folder whose name is no number comes last.
pub fn nodes(run: &Path) -> Vec<(Option<usize>, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(run.join(NODES)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    let number = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse().ok());
    let mut folders: Vec<(Option<usize>, PathBuf)> = paths.map(|path| (number(&path), path)).collect();
    folders.sort_by_key(|(number, path)| (number.is_none(), *number, path.clone()));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_nodes_come_in_the_order_of_numbers_and_not_of_letters() {
        let run = std::env::temp_dir().join(format!("murmur-nodes-{}", std::process::id()));
        for name in [10, 9, 0] {
            std::fs::create_dir_all(node(&run, name)).unwrap();
        }
        std::fs::create_dir_all(run.join("nodes/old")).unwrap();
        std::fs::write(run.join("nodes/3"), "no folder").unwrap();
        let numbers: Vec<Option<usize>> = nodes(&run).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [Some(0), Some(9), Some(10), None]);
        std::fs::remove_dir_all(&run).unwrap();
        assert!(nodes(&run).is_empty());
    }
}
