//! A made-up swarm of a thousand nodes, to see whether the page stays smooth: `cargo run -p murmuration-dashboard --example thousand [NODES]`.
//!
//! Writes the logs that so many nodes would write, ten rounds per second, until stdin ends. Node 7 dies at round 20.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use dashboard::{Dashboard, Facts, Only, Outline, Place, Vitals};
use std::io::Read;
use std::time::Duration;
use synthetic::{Swarm, append, setup};

const PAUSE: Duration = Duration::from_millis(100);

fn main() {
    let nodes: u32 = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of nodes"));
    // Few rounds and noise by hand: to price a plan for so many nodes would take longer than the show.
    let nodes_setting = format!("nodes={nodes}");
    let settings = [&nodes_setting, "rounds=20", "privacy.noise_multiplier=40", "name=thousand"];
    let setup = setup(&settings);
    let folder = tempfile::tempdir().expect("a folder");
    let logs: Vec<_> = (0..nodes).map(|node| folder.path().join(node.to_string())).collect();
    let place = Place::take("127.0.0.1:0", None).expect("a free port");
    eprintln!("page       {}", place.url());
    let mut facts = Facts::of(&setup);
    facts.shape.rounds = 5000;
    let outline = Outline { budget: Some(8.0), ..Outline::of(&setup.config, Only::Everybody) };
    let mut page = Dashboard::start(place, outline, logs.clone(), move || Ok(facts)).expect("a page");
    let board = page.board();
    for node in 0..nodes as usize {
        board.vitals(node, Vitals { phase: "running".into(), ..Vitals::default() });
    }
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = end.send(());
    });
    let mut swarm = Swarm::new(nodes);
    let mut round = 0;
    while ended.recv_timeout(PAUSE).is_err() {
        round += 1;
        if round == 20 {
            board.ended(7, false);
        }
        let lines = swarm.rounds(1);
        for (node, path) in logs.iter().enumerate() {
            let own: Vec<_> = lines.iter().filter(|line| line.node == Some(node as u32)).cloned().collect();
            append(path, &own);
        }
    }
    page.finish("finished");
    page.close();
}
