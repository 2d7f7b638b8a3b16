//! Cables that come and go.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::lan::net::Lan;
use crate::records::{everything_is_on_record, one_result_for_each_round};
use crate::rig::{Dice, Home, Node};

const HOSTS: usize = 5;

struct Flapping {
    lan: Lan,
    home: Home,
    nodes: Vec<Node>,
    cut: BTreeSet<usize>,
    dice: Dice,
}

impl Flapping {
    /// Five hosts that train. `None` where no namespaces can be made.
    fn start(seed: u64) -> Option<Self> {
        let lan = Lan::bridged(HOSTS)?;
        // More rounds than the test will see.
        let settings = ["rounds=200000", "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""];
        let home = Home::new("flapping", HOSTS, &settings);
        let mut nodes: Vec<Node> =
            (0..HOSTS).map(|node| home.command_behind(node, lan.inside(node)).go()).collect();
        nodes.iter_mut().for_each(|node| node.until_round(3));
        Some(Self { lan, home, nodes, cut: BTreeSet::new(), dice: Dice::new(seed) })
    }

    /// Unplugs a host or plugs it in again, while no more than `most` are without.
    fn flap(&mut self, most: usize) {
        let host = self.dice.roll(HOSTS as u64) as usize;
        if self.cut.remove(&host) {
            self.lan.heal(host);
        } else if self.cut.len() < most {
            self.lan.cut(host);
            self.cut.insert(host);
        }
    }

    fn furthest(&mut self) -> u64 {
        let round = |node: &mut Node| node.catch_up()["round"].as_u64().unwrap_or(0);
        self.nodes.iter_mut().map(round).max().unwrap_or(0)
    }

    /// All are plugged in: all go on together, and what they wrote is whole. How far they have come, and how much they gave.
    fn ends_well(mut self) -> (u64, usize) {
        std::mem::take(&mut self.cut).into_iter().for_each(|host| self.lan.heal(host));
        let reached = self.furthest();
        self.nodes.iter_mut().for_each(|node| node.until_round(reached + 5));
        let far = self.furthest();
        assert!(self.nodes.into_iter().all(Node::stop));
        one_result_for_each_round(&self.home, HOSTS);
        (far, (0..HOSTS).map(|node| everything_is_on_record(&self.home, node)).sum())
    }
}

/// The next change comes when those who are plugged in have made some rounds more.
#[test]
fn a_cable_that_comes_and_goes_costs_time_and_nothing_else() {
    let Some(mut swarm) = Flapping::start(5) else { return };
    for _ in 0..10 {
        swarm.flap(1);
        let witness = (0..HOSTS).find(|host| !swarm.cut.contains(host)).expect("four are plugged in");
        let more = 1 + swarm.dice.roll(3);
        let round = swarm.nodes[witness].catch_up()["round"].as_u64().unwrap_or(0);
        swarm.nodes[witness].until_round(round + more);
    }
    swarm.ends_well();
}

/// Two of five may be without at once: then nobody decides anything. `MURMUR_FLAP_SECONDS` says for how long.
#[test]
#[ignore = "takes ten minutes"]
fn ten_minutes_of_cables_that_come_and_go_cost_time_and_nothing_else() {
    let seconds = std::env::var("MURMUR_FLAP_SECONDS").map_or(600, |text| text.parse().expect("a number"));
    let Some(mut swarm) = Flapping::start(6) else { return };
    let (start, mut flaps, mut last) = (Instant::now(), 0, (0, Instant::now()));
    let (mut stalls, mut longest) = (0, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        swarm.flap(2);
        flaps += 1;
        let rest = Duration::from_millis(swarm.dice.roll(4_000));
        let since = Instant::now();
        while since.elapsed() < rest {
            std::thread::sleep(Duration::from_millis(50));
            let far = swarm.furthest();
            if far > last.0 {
                stalls += usize::from(last.1.elapsed() > Duration::from_secs(3));
                longest = longest.max(last.1.elapsed());
                last = (far, Instant::now());
            }
        }
    }
    let (far, given) = swarm.ends_well();
    println!(
        "{flaps} changes in {seconds} s, {far} rounds, {given} contributions; {stalls} stalls over 3 s, longest {longest:?}"
    );
}
