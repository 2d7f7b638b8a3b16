//! Sixteen real nodes on a LAN of their own, five of them hostile in each of twelve ways, under kills, pauses and cut cables: the eleven honest ones agree on one
//! model, as good as without any of this, and nobody honest is left out or forgets what it spent.
//!
//! `MURMUR_CHAOS_SECONDS` says how long it is disturbed, `MURMUR_CHAOS_EVENTS` how often, `MURMUR_CHAOS_ROUNDS` how long the run is, `MURMUR_CHAOS_SEED` what happens when,
//! and `MURMUR_CHAOS_KEEP` names a folder for what nodes wrote.

mod liar;
mod verdict;

use std::time::{Duration, Instant};

use protocol::config::HostileKind;

use crate::lan::net::Lan;
use crate::rig::{Dice, Home, Node};
use liar::{Liar, Part};

const NODES: usize = 16;
const HONEST: usize = 11;
/// Paused and cut off as all others, but never killed: their memory is watched from beginning to end.
const WATCHED: usize = 2;

/// All that a member can do to others' words, models and time.
const KINDS: [HostileKind; 12] = [
    HostileKind::ForgedModel,
    HostileKind::ForgedDecision,
    HostileKind::FalseStanding,
    HostileKind::ZeroCount,
    HostileKind::Equivocation,
    HostileKind::Replay,
    HostileKind::Silence,
    HostileKind::Flood,
    HostileKind::HighNumbers,
    HostileKind::FalseAccusation,
    HostileKind::Malformed,
    HostileKind::Slow,
];

/// How long nobody may come further, once nothing is disturbed any more.
const PATIENCE: Duration = Duration::from_secs(240);

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

fn address(node: usize) -> String {
    format!("/ip4/10.77.0.{}/tcp/7000", node + 1)
}

fn others(node: usize) -> Vec<String> {
    (0..NODES).filter(|&other| other != node).map(address).collect()
}

/// The swarm, and what was done to it.
struct Chaos {
    home: Home,
    lan: Lan,
    nodes: Vec<Option<Node>>,
    liars: Vec<Liar>,
    dice: Dice,
    /// Kills, pauses and cuts.
    done: [usize; 3],
    /// Of the watched nodes, in kilobytes.
    memory: Vec<Vec<u64>>,
}

impl Chaos {
    fn start(lan: Lan, (rounds, seconds): (u64, u64), seed: u64) -> Self {
        let rounds = format!("rounds={rounds}");
        let settings =
            [&rounds, "privacy.noise_multiplier=1", "privacy.masking=none", "timeouts.silence=\"2s\""];
        let home = Home::pinned("chaos", NODES, &settings);
        let mut dice = Dice::new(seed);
        let kinds: Vec<HostileKind> =
            dice.pick(KINDS.len(), KINDS.len()).into_iter().map(|at| KINDS[at]).collect();
        let liars = NODES - HONEST;
        let hostile = |at: usize| {
            let kinds: Vec<HostileKind> = kinds.iter().skip(at).step_by(liars).copied().collect();
            eprintln!("node {}: {}", HONEST + at, words(&kinds));
            // All of them have their time while the run is disturbed.
            let part = Part { each: seconds * 1_000_000 / 3, kinds };
            let node = HONEST + at;
            Liar::start((home.path(), node), &lan.inside(node), (&address(node), &others(node)), &part)
        };
        let liars = (0..liars).map(hostile).collect();
        let memory = vec![Vec::new(); WATCHED];
        let mut chaos = Self { home, lan, nodes: Vec::new(), liars, dice, done: [0; 3], memory };
        chaos.nodes = (0..HONEST).map(|node| Some(chaos.node(node))).collect();
        chaos
    }

    fn node(&self, node: usize) -> Node {
        let launch = self.home.command_behind(node, self.lan.inside(node));
        let (listen, others) = (address(node), others(node));
        let peers = others.iter().flat_map(|peer| ["--peer", peer]);
        let words: Vec<&str> = ["--listen", &listen, "--no-mdns"].into_iter().chain(peers).collect();
        launch.with(&words).go()
    }

    fn below(&mut self, sides: u64) -> u64 {
        self.dice.roll(sides)
    }

    fn rest(&mut self, most: u64) {
        let millis = self.below(most.max(1));
        std::thread::sleep(Duration::from_millis(millis));
    }

    fn disturb(&mut self) {
        match self.below(10) {
            0..4 => {
                let victim = WATCHED + self.below((HONEST - WATCHED) as u64) as usize;
                self.nodes[victim].take().expect("all run").kill();
                self.rest(2_000);
                self.nodes[victim] = Some(self.node(victim));
                self.done[0] += 1;
            }
            4..8 => {
                let victim = self.below(HONEST as u64) as usize;
                self.nodes[victim].as_ref().expect("all run").signal("-STOP");
                self.rest(5_000);
                self.nodes[victim].as_ref().expect("all run").signal("-CONT");
                self.done[1] += 1;
            }
            _ => {
                let count = 1 + self.below(5) as usize;
                let side = self.dice.pick(count, NODES);
                self.lan.split(&side);
                self.rest(5_000);
                self.lan.join(&side);
                self.done[2] += 1;
            }
        }
    }

    /// Takes in what was said, and looks at memory.
    fn look(&mut self) {
        self.nodes.iter_mut().flatten().for_each(Node::hear);
        for (node, memory) in self.nodes.iter().flatten().zip(&mut self.memory) {
            memory.push(node.resident());
        }
    }

    /// The least and the largest round in which an honest node is.
    fn rounds(&self) -> (u64, u64) {
        let round = |node: &Node| node.last["round"].as_u64().unwrap_or(0);
        let rounds = self.nodes.iter().flatten().map(round);
        (rounds.clone().min().unwrap_or(0), rounds.max().unwrap_or(0))
    }

    /// Goes on until all honest nodes have ended; each of them with success.
    fn finish(&mut self) {
        let (mut far, mut since) = (self.rounds(), Instant::now());
        while !self.nodes.iter_mut().flatten().all(Node::has_ended) {
            std::thread::sleep(Duration::from_millis(200));
            self.nodes.iter_mut().flatten().for_each(Node::hear);
            if self.rounds() != far {
                (far, since) = (self.rounds(), Instant::now());
            }
            if since.elapsed() > PATIENCE {
                let last: Vec<String> =
                    self.nodes.iter().flatten().map(|node| node.last.to_string()).collect();
                self.keep();
                panic!("nobody comes further than {far:?}:\n{}", last.join("\n"));
            }
        }
    }

    /// What nodes wrote, where somebody wants to see it.
    fn keep(&self) {
        let Ok(to) = std::env::var("MURMUR_CHAOS_KEEP") else { return };
        let copied = std::process::Command::new("cp").arg("-r").arg(self.home.path()).arg(&to).status();
        assert!(copied.is_ok_and(|status| status.success()), "it could not be kept in {to}");
    }
}

fn words(kinds: &[HostileKind]) -> String {
    kinds.iter().map(HostileKind::to_string).collect::<Vec<_>>().join(", ")
}

/// Disturbs the run until the time is over, or it is near its end.
fn disturb(chaos: &mut Chaos, (seconds, events, rounds): (u64, u64, u64)) {
    let start = Instant::now();
    let pause = seconds * 1_000 / events.max(1);
    let mut said = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) && chaos.rounds().1 < rounds * 9 / 10 {
        let before = Instant::now();
        chaos.disturb();
        chaos.look();
        let left = (2 * pause).saturating_sub(2 * before.elapsed().as_millis() as u64);
        chaos.rest(left);
        if said.elapsed() > Duration::from_secs(30) {
            said = Instant::now();
            eprintln!(
                "{} s: rounds {:?}, {:?} kills, pauses and cuts",
                start.elapsed().as_secs(),
                chaos.rounds(),
                chaos.done
            );
        }
    }
    let all_lied = chaos.liars.iter_mut().filter_map(|liar| liar.runs().then_some(())).count();
    eprintln!("{all_lied} of {} hostile nodes still run", chaos.liars.len());
}

#[test]
#[ignore = "takes minutes"]
fn eleven_of_sixteen_agree_whatever_five_do_under_kills_pauses_and_cut_cables() {
    let seconds = number("MURMUR_CHAOS_SECONDS", 300);
    let (events, seed) = (number("MURMUR_CHAOS_EVENTS", seconds * 5 / 12), number("MURMUR_CHAOS_SEED", 1));
    let rounds = number("MURMUR_CHAOS_ROUNDS", seconds * 20);
    let Some(lan) = Lan::bridged(NODES) else { return };
    let mut chaos = Chaos::start(lan, (rounds, seconds), seed);
    disturb(&mut chaos, (seconds, events, rounds));
    let reached = chaos.rounds();
    chaos.finish();
    eprintln!("disturbed up to round {} of {rounds}: {:?} kills, pauses and cuts", reached.1, chaos.done);
    chaos.keep();
    verdict::check(chaos);
}
