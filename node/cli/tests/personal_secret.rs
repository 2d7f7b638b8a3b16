//! A model of a node's own leaves the node nowhere: not in logs, ledgers, reports, results or what is printed, as bytes or as text. Messages are looked at in
//! `sim/tests/differ.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const NODES: usize = 3;

/// Pairs of neighbouring parameters, as bytes, that are the node's own and not those of the shared model, and some of them as they would be printed.
struct Secret {
    windows: BTreeSet<[u8; 8]>,
    printed: Vec<String>,
}

/// The numbers of a safetensors file: behind a header whose length comes first.
fn numbers(path: &Path) -> Vec<[u8; 4]> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
    rest[u64::from_le_bytes(*length) as usize..].as_chunks::<4>().0.to_vec()
}

impl Secret {
    fn of(node: &Path) -> Self {
        let (own, shared) =
            (numbers(&node.join("personal.safetensors")), numbers(&node.join("model.safetensors")));
        assert_eq!(own.len(), shared.len());
        let is_own = |at: usize| own[at] != shared[at] && f32::from_le_bytes(own[at]) != 0.0;
        let places: Vec<usize> = (1..own.len()).filter(|&at| is_own(at - 1) && is_own(at)).collect();
        let window = |&at: &usize| {
            let mut window = [0; 8];
            window[..4].copy_from_slice(&own[at - 1]);
            window[4..].copy_from_slice(&own[at]);
            window
        };
        let printed =
            places.iter().map(|&at| f32::from_le_bytes(own[at]).to_string()).filter(|text| text.len() > 8);
        Self { windows: places.iter().map(window).collect(), printed: printed.take(20).collect() }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        bytes.windows(8).any(|window| self.windows.contains(window))
            || self.printed.iter().any(|number| text.contains(number.as_str()))
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_model_of_one_s_own_is_in_no_file_but_its_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("personal-secret");
    let _ = std::fs::remove_dir_all(&folder);
    let pairs = [
        "data=digits",
        "rounds=3",
        "batch_size=16",
        "partition.min_size=20",
        "personal.kind=proximal",
        "personal.lambda=0.1",
    ];
    let done = Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
        .args(["swarm", "--nodes", &NODES.to_string()])
        .args(pairs.iter().flat_map(|pair| ["--set", *pair]))
        .arg("--out")
        .arg(&folder)
        .output()
        .expect("murmur starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let all = files(&folder);
    let own = |path: &&PathBuf| path.file_name().is_some_and(|name| name == "personal.safetensors");
    let homes: Vec<&Path> = all.iter().filter(own).filter_map(|path| path.parent()).collect();
    assert_eq!(homes.len(), NODES);
    let others: Vec<&PathBuf> = all.iter().filter(|path| !own(path)).collect();
    for name in ["log.jsonl", "report.html", "report.json", "result.json", "ledger.redb", "metrics.csv"] {
        assert!(others.iter().any(|path| path.ends_with(name)), "{name} is there to be searched");
    }
    for home in homes {
        let secret = Secret::of(home);
        assert!(secret.windows.len() > 50 && secret.printed.len() == 20, "there is something to find");
        let file = std::fs::read(home.join("personal.safetensors")).expect("the file");
        assert!(secret.is_in(&file), "where it is, it is found");
        for path in &others {
            let bytes = std::fs::read(path).expect("a file");
            assert!(!secret.is_in(&bytes), "{} has the model of {}", path.display(), home.display());
        }
        assert!(!secret.is_in(&done.stdout) && !secret.is_in(&done.stderr));
    }
}
