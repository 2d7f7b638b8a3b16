//! Who does not belong costs a swarm nothing: no round, no memory.

use std::io::Write;
use std::net::TcpStream;

use protocol::{LogLine, RunEvent};

use crate::rig::{Dice, Home, Node};

/// Connections at once.
const CROWD: usize = 1000;
/// What a node may grow by under attack, in kilobytes.
const GROWTH: u64 = 24 * 1024;

/// A TCP address from a multiaddress.
fn socket(address: &str) -> String {
    let words: Vec<&str> = address.split('/').collect();
    format!("{}:{}", words[2], words[4])
}

/// Bytes that look like nothing, like a length of ten gigabytes, like the beginning of a handshake, or none at all.
fn first_words(number: usize, dice: &mut Dice) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..200).map(|_| dice.roll(256) as u8).collect();
    match number % 4 {
        0 => bytes,
        1 => {
            // After the nonce of a private network.
            bytes[24..32].copy_from_slice(&10_000_000_000_u64.to_le_bytes());
            bytes
        }
        2 => b"\x13/multistream/1.0.0\n".to_vec(),
        _ => Vec::new(),
    }
}

/// The rounds that were given up, with the reasons.
fn broken(lines: Vec<LogLine>) -> Vec<LogLine> {
    lines.into_iter().filter(|line| matches!(line.event, RunEvent::RoundBroken { .. })).collect()
}

#[test]
fn a_thousand_strangers_at_once_cost_neither_a_round_nor_memory() {
    let home = Home::new("strangers", 3, &["rounds=50000", "privacy.noise_multiplier=1"]);
    let mut nodes = home.start_all();
    nodes.iter_mut().for_each(|node| node.until_round(20));
    let targets: Vec<String> = nodes.iter_mut().map(|node| socket(&node.address())).collect();
    let before: Vec<u64> = nodes.iter().map(Node::resident).collect();
    let mut dice = Dice::new(5);
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        // A node that is full may refuse at once; that is one way of being bounded.
        let Ok(mut stream) = TcpStream::connect(&targets[number % 3]) else { continue };
        let _ = stream.write_all(&first_words(number, &mut dice));
        crowd.push(stream);
    }
    assert!(crowd.len() > CROWD / 2, "{} connections", crowd.len());
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    for node in &mut nodes {
        // A byte now and then from each that is still there: slow-loris.
        node.until_round(round + 30);
        crowd.retain_mut(|stream| stream.write_all(&[7]).is_ok());
    }
    nodes.iter_mut().for_each(|node| node.until_round(round + 100));
    for (node, before) in nodes.iter().zip(before) {
        let after = node.resident();
        assert!(after < before + GROWTH, "from {before} to {after} kB");
    }
    drop(crowd);
    // Before they are stopped: those who are left then miss the others.
    let missed: Vec<LogLine> = home.logs().into_iter().flat_map(broken).collect();
    assert!(missed.is_empty(), "rounds were missed: {missed:?}");
    assert!(nodes.into_iter().all(Node::stop));
    for node in 0..3 {
        let words = std::fs::read_to_string(home.path().join(format!("{node}.stderr"))).expect("messages");
        let is_about_them =
            |line: &&str| line.contains("turned") || line.contains("does not know the secret");
        let complaints = words.lines().filter(is_about_them).count();
        assert!((1..100).contains(&complaints), "{complaints} lines about strangers");
    }
}
