//! A disk that is full or cannot be written stops a node before it sends.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rig::{Home, Launch};

/// A small file system in memory; unmounted in the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with a line that says so, where nothing can be mounted.
    fn mount(at: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).expect("a folder");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "murmur-test"]).arg(at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                eprintln!("skipped: cannot mount a small disk (needs root): {why}");
                None
            }
            Err(error) => {
                eprintln!("skipped: no `mount`: {error}");
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(done.expect("mount").success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The node ends with an error that names the file and says what to do.
fn refused(launch: Launch, about: &[&str]) {
    let output = launch.output();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for word in about.iter().chain(&["hint:"]) {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_stops_a_node_before_it_begins() {
    let home = Home::new("read-only", 3, &["rounds=4"]);
    let Some(disk) = SmallDisk::mount(&home.state(0), "size=8m") else { return };
    // Identity and ledger are there; then nothing can be written any more.
    home.command(0).go().address();
    disk.remount("ro");
    refused(home.command(0), &["cannot", &home.state(0).display().to_string()]);
}

#[test]
fn a_full_disk_stops_a_node_before_it_begins() {
    let home = Home::new("full", 3, &["rounds=4"]);
    let Some(_disk) = SmallDisk::mount(&home.state(0), "size=16k") else { return };
    refused(home.command(0), &["cannot", &home.state(0).display().to_string()]);
}

#[test]
fn a_disk_that_fills_up_stops_a_node_before_it_sends_what_is_not_recorded() {
    let home =
        Home::new("filling", 3, &["rounds=20000", "privacy.noise_multiplier=1", "timeouts.silence=\"2s\""]);
    let Some(_disk) = SmallDisk::mount(&home.state(0), "size=8m") else { return };
    let mut nodes = home.start_all();
    nodes[0].until("a contribution", |status| (status["released"].as_u64()? >= 3).then_some(()));
    // Whatever room there is.
    let filler = home.state(0).join("filler");
    let mut file = std::fs::File::create(&filler).expect("a file");
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    let first = nodes.remove(0);
    assert!(!first.finish(), "it ends with an error");
    let words = std::fs::read_to_string(home.path().join("0.stderr")).expect("its messages");
    assert!(words.contains("No space left") && words.contains("hint:"), "{words}");
    drop(file);
    std::fs::remove_file(filler).expect("it is there");
    let (records, released) = (home.records(0).len(), home.released(0));
    assert!(records >= released && released >= 3, "{records} records, {released} released");
    // The others go on without it.
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 3);
}
