//! A swarm's secret is in memory as often as it is needed, and not after its last use.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Seek, SeekFrom};

use protocol::config::Config;
use runtime::Secret;
use runtime::swarm_file::SwarmFile;

/// How often bytes are in the memory of this process; they are given turned round, so that the question is no answer.
fn found(turned: &[u8]) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut memory = std::fs::File::open("/proc/self/mem").unwrap();
    let mut times = 0;
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let (from, to) = (u64::from_str_radix(from, 16).unwrap(), u64::from_str_radix(to, 16).unwrap());
        let mut part = vec![0; (to - from) as usize];
        if memory.seek(SeekFrom::Start(from)).is_err() || memory.read_exact(&mut part).is_err() {
            continue;
        }
        let is_it = |window: &[u8]| window.iter().eq(turned.iter().rev());
        // The search may have its buffer in the memory that it searches: what is there is its own.
        let own = part.as_ptr() as usize..part.as_ptr() as usize + part.len();
        let places = part.windows(turned.len()).enumerate().filter(|(_, window)| is_it(window));
        times += places.filter(|(at, _)| !own.contains(&(from as usize + at))).count();
        // The copy that was searched must not be found in the next search.
        part.fill(0);
        std::hint::black_box(&part);
    }
    times
}

#[test]
fn the_secret_is_wiped_with_the_file_that_held_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swarm.toml");
    // Made by another process, so that only reading leaves traces here.
    let config = Config::from_toml("nodes = 3\nbatch_size = 32", "test").unwrap();
    // No part of it looks like another, so that one copy is found once.
    let byte = |at: u32| (at * 37 + 11) as u8;
    let hex: String = (0..32).map(|at| format!("{:02x}", byte(at))).collect();
    let file = SwarmFile {
        name: "a".into(),
        nodes: 3,
        config: config.to_toml(),
        secret: Secret::from_hex(&hex).unwrap(),
        roster: Vec::new(),
        schema: None,
        relays: Vec::new(),
        renewals: Default::default(),
    };
    file.create(&path).unwrap();
    drop((file, hex));
    let text = std::fs::read_to_string(&path).unwrap();
    let turned: Vec<u8> =
        text.lines().find(|line| line.starts_with("secret")).unwrap()[10..74].bytes().rev().collect();
    let raw: Vec<u8> = (0..32).rev().map(byte).collect();
    drop(text);
    let before = (found(&turned), found(&raw));
    let loaded = SwarmFile::load(&path).unwrap();
    let copies: Vec<Secret> = (0..20).map(|_| loaded.secret.clone()).collect();
    let (digits, bytes) = (found(&turned), found(&raw));
    assert!(bytes - before.1 <= 1, "{bytes} copies of the secret, {} before", before.1);
    assert!(digits <= before.0, "{digits} copies of its digits, {} before", before.0);
    drop((copies, loaded));
    assert!(found(&raw) <= before.1);
}
