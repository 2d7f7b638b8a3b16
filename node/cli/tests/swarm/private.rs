//! Files of a node are its owner's, whatever the process was told about new files; and too little room is said before anything is begun.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::rig::{Home, Node, introduce};

/// Runs the program after this in a shell.
fn after(words: &str) -> Vec<String> {
    ["sh", "-c", &format!("{words}; exec \"$0\" \"$@\"")].map(str::to_owned).to_vec()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_nodes_files_are_for_its_owner_whatever_the_umask() {
    let home = Home::new("umask", 2, &["rounds=4", "privacy.noise_multiplier=1"]);
    // A folder that was made beforehand, as a person would.
    std::fs::create_dir(home.state(1)).expect("a folder");
    std::fs::set_permissions(home.state(1), PermissionsExt::from_mode(0o755)).expect("it is ours");
    let launch = |node| home.command_on_loopback_behind(node, after("umask 000")).go();
    let mut nodes: Vec<Node> = (0..2).map(launch).collect();
    introduce(&mut nodes);
    assert!(nodes.into_iter().all(Node::finish));
    let made = std::process::Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
        .arg("report")
        .arg(home.state(0))
        .env("MURMUR_LEDGER", home.path().join("ledger"))
        .output()
        .expect("the program starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for node in 0..2 {
        assert_eq!(mode(&home.state(node)), 0o700);
        let names = std::fs::read_dir(home.state(node)).expect("a folder").flatten();
        let files: Vec<_> = names.map(|entry| (entry.file_name(), mode(&entry.path()))).collect();
        assert!(files.len() >= 5, "{files:?}");
        assert!(files.iter().all(|(_, mode)| *mode == 0o600), "{files:?}");
    }
    assert_eq!(mode(&home.path().join("ledger/counts")), 0o700);
}

#[test]
fn too_few_files_or_too_little_memory_end_with_a_reason() {
    let home = Home::new("scarce", 8, &["rounds=4", "privacy.noise_multiplier=1"]);
    for (limit, expected) in [("ulimit -n 16", "may open 16 files"), ("ulimit -v 200000", "MB of memory")] {
        let output = home.command_on_loopback_behind(0, after(limit)).output();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{limit}: {said}");
        assert!(said.contains(expected) && said.contains("hint:"), "{limit}: {said}");
        assert!(!home.state(0).exists(), "{limit}: nothing was begun");
    }
}
