//! A random run: graph, weights, schedule, algorithm, and everything that can go wrong.

use std::fmt;
use std::sync::Arc;

use privacy::event::DpEvent;
use protocol::account::Price;
use protocol::config::{Config, Layer};
use protocol::{BudgetRule, Scope, Settings, Setup};

use super::dice::Dice;

/// Numbers of a model: room for every contribution of a run, and for the noise of messages behind them.
const NUMBERS: usize = 640;
/// Where messages have noise of their own: twice as many as all lives of all nodes can draw.
const NUMBERS_OF_NOISE: usize = 1000;
/// Where neighbours share noise, enough to see from two vectors alone whether they do.
const NUMBERS_OF_PAIRS: usize = 4000;

pub(crate) struct Scenario {
    pairs: Vec<String>,
    /// ρ of the updates, where there is training.
    pub(crate) rho: Option<f64>,
    /// Contributions after which each node only mixes, where there is such a limit.
    pub(crate) most: Vec<Option<usize>>,
    /// Whether whoever comes back finds an older copy of its disk.
    pub(crate) old_disks: bool,
}

/// What the nodes do, and where something else depends on it.
struct Chosen {
    rho: Option<f64>,
    numbers: usize,
    /// Whether a node that crashed may come back.
    may_return: bool,
    /// Whether some add to the first round only and mix all along, where nothing else goes wrong.
    few: bool,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pairs.join("\n"))?;
        write!(f, "\n(limits on contributions: {:?}; old disks: {})", self.most, self.old_disks)?;
        self.rho.map_or(Ok(()), |rho| write!(f, "\n(updates with ρ = {rho})"))
    }
}

/// μ² of one contribution that is seen as it is.
pub(crate) fn unit(release: &DpEvent) -> f64 {
    match release {
        DpEvent::Gaussian { noise_multiplier } => noise_multiplier.powi(-2),
        other => panic!("contributions without samples are Gaussian: {other:?}"),
    }
}

/// The settings of a node that stops contributing after so many times.
pub(crate) fn limited(settings: &Settings, most: usize) -> Arc<Settings> {
    let name = format!("{most} contributions");
    let rule = BudgetRule { scope: Scope::Local, limit: most as f64, price: Price::Releases, name };
    let mut limited = settings.clone();
    limited.budget.push(rule);
    Arc::new(limited)
}

impl Scenario {
    /// Draws until it has a run that is not refused, as one is on a graph that is not connected.
    pub(crate) fn draw(dice: &mut Dice) -> (Self, Setup) {
        std::iter::repeat_with(|| Self::try_draw(dice)).flatten().next().expect("a run that is not refused")
    }

    fn try_draw(dice: &mut Dice) -> Option<(Self, Setup)> {
        let nodes = 3 + dice.below(6);
        let mut pairs = common(nodes, dice);
        let chosen = algorithm(&mut pairs, nodes, dice);
        pairs.push(format!("data=blobs:nodes={nodes},records=4,dim={},classes=2,test=0", chosen.numbers));
        if !chosen.few {
            faults(&mut pairs, (nodes, chosen.may_return), dice);
        }
        let layers = pairs.iter().map(|pair| Layer::from_flags("--set", &[pair]).unwrap());
        let mut setup = Setup::new(Config::from_layers(layers).ok()?).ok()?;
        setup.rho = chosen.rho;
        let limited = chosen.few || dice.once_in(2);
        let most = if chosen.few { 2 } else { 4 };
        let mut limit = |_| (limited && dice.once_in(2)).then(|| dice.below(most));
        let most = (0..nodes).map(&mut limit).collect();
        let old_disks = dice.once_in(8);
        Some((Self { pairs, rho: chosen.rho, most, old_disks }, setup))
    }
}

fn common(nodes: usize, dice: &mut Dice) -> Vec<String> {
    let graph = match dice.below(6) {
        0 => "ring".to_owned(),
        1 => "path".into(),
        2 => "star".into(),
        3 => "complete".into(),
        4 => format!("erdos-renyi:p={},seed={}", dice.one_of(&[0.3, 0.5, 0.7]), dice.below(1000)),
        _ => format!("tree:{nodes}"),
    };
    let weights = dice.one_of(&["metropolis", "lazy-metropolis", "max-degree", "best-constant", "uniform"]);
    vec![
        "name=received".into(),
        format!("nodes={nodes}"),
        format!("seed={}", dice.below(1 << 30)),
        "partition=natural".into(),
        format!("topology={graph}"),
        format!("weights={weights}"),
        "batch_size=all".into(),
        "learning_rate=0.5".into(),
        "privacy.delta=1e-5".into(),
        format!("privacy.noise_multiplier={}", dice.one_of(&[1.0, 4.0])),
        "timeouts.resend=20ms".into(),
        "timeouts.silence=60ms".into(),
        // Without a quorum nothing happens any more.
        "timeouts.give_up=2s".into(),
    ]
}

/// Chooses what they do.
fn algorithm(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) -> Chosen {
    if dice.once_in(4) {
        pairs.push("members.hostile=0".into());
    }
    let plain = |rho| Chosen { rho, numbers: NUMBERS, may_return: true, few: false };
    match dice.below(12) {
        0..3 => plain(Some(gossip(pairs, nodes, dice))),
        3 => Chosen { few: true, ..plain(Some(few(pairs, dice))) },
        4..6 => {
            let noisy = mean(pairs, nodes, dice);
            Chosen { numbers: if noisy { NUMBERS_OF_NOISE } else { NUMBERS }, ..plain(None) }
        }
        6..9 => plain(Some(walk(pairs, dice))),
        9 if nodes <= 5 => {
            gopa(pairs, dice);
            Chosen { rho: None, numbers: NUMBERS_OF_PAIRS, may_return: false, few: false }
        }
        _ => {
            rounds(pairs, nodes, dice);
            // Consensus hides nothing of the model, so nothing is gained by other updates.
            plain(Some(1.0))
        }
    }
}

fn records(pairs: &mut Vec<String>, kind: &str) {
    pairs.extend(
        [&format!("algorithm.kind={kind}"), "model.kind=logistic", "privacy.adjacency=record"]
            .map(str::to_owned),
    );
}

fn values(pairs: &mut Vec<String>) {
    pairs.extend(["algorithm.kind=mean", "model.kind=mean", "privacy.adjacency=node"].map(str::to_owned));
}

/// Who meets whom when; whether that is not one graph all along.
fn schedule(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) -> bool {
    let changes = dice.once_in(3);
    if changes {
        let fresh = format!("resampled:erdos-renyi:{nodes},p=0.7");
        let all = ["one-peer-exponential", "doubling", "shuffled-doubling", "random-matching", &fresh];
        pairs.push(format!("algorithm.schedule={}", dice.one_of(&all)));
    }
    changes
}

/// ρ of the updates.
fn gossip(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) -> f64 {
    records(pairs, "gossip");
    let changes = schedule(pairs, nodes, dice);
    pairs.push(format!("rounds={}", 2 + dice.below(7)));
    if !changes && dice.once_in(5) {
        // Models of their own, which go a part of the way to the neighbours'.
        pairs.push(format!("algorithm.pull={}", dice.one_of(&[0.1, 0.5, 1.5])));
    } else {
        pairs.push(format!("algorithm.mixing_steps={}", dice.one_of(&[1, 1, 1, 2, 3])));
        if dice.once_in(6) {
            pairs.push("algorithm.accelerate=true".into());
        }
    }
    dice.one_of(&[0.3, 0.7, 1.0, 1.0, 1.0, 1.2])
}

/// Updates that contract, at nodes of which some do not make them: what is far away is hidden by what is between, and that is not less for being left alone.
fn few(pairs: &mut Vec<String>, dice: &mut Dice) -> f64 {
    records(pairs, "gossip");
    pairs.push("topology=path".into());
    pairs.push(format!("rounds={}", 3 + dice.below(6)));
    pairs.push("algorithm.mixing_steps=1".into());
    dice.one_of(&[0.1, 0.3, 0.7])
}

/// Whether messages have noise of their own.
fn mean(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) -> bool {
    values(pairs);
    schedule(pairs, nodes, dice);
    let noisy = nodes <= 5 && dice.once_in(3);
    pairs.push(format!("algorithm.mixing_steps={}", 1 + dice.below(if noisy { 3 } else { 6 })));
    if noisy {
        pairs.push(format!("algorithm.message_noise={}", dice.one_of(&[0.1, 0.5, 2.0])));
    } else if dice.once_in(5) {
        pairs.push("algorithm.accelerate=true".into());
    }
    noisy
}

/// One average in which neighbours share noise.
fn gopa(pairs: &mut Vec<String>, dice: &mut Dice) {
    values(pairs);
    pairs.push("privacy.masking=gopa".into());
    pairs.push(format!("algorithm.mixing_steps={}", 1 + dice.below(4)));
    pairs.push(format!("privacy.pairwise_noise={}", dice.one_of(&[0.5, 1.0, 3.0])));
}

/// ρ of the updates.
fn walk(pairs: &mut Vec<String>, dice: &mut Dice) -> f64 {
    records(pairs, "walk");
    pairs.push(format!("rounds={}", 2 + dice.below(5)));
    pairs.push(format!("algorithm.tokens={}", 1 + dice.below(3)));
    pairs.push(format!("algorithm.kernel={}", dice.one_of(&["simple", "lazy", "metropolis"])));
    dice.one_of(&[0.7, 1.0, 1.0])
}

fn rounds(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) {
    records(pairs, "rounds");
    pairs.push(format!("rounds={}", 2 + dice.below(5)));
    if dice.once_in(4) {
        pairs.push(format!("algorithm.sample={}", 1 + dice.below(nodes)));
    }
    if dice.once_in(4) {
        pairs.push("average=0.5".into());
    }
    if dice.once_in(4) {
        pairs.push("members.late=true".into());
    }
}

fn faults(pairs: &mut Vec<String>, (nodes, may_return): (usize, bool), dice: &mut Dice) {
    let mut set = |name: &str, value: String| pairs.push(format!("faults.{name}={value}"));
    set("delay", dice.one_of(&["1ms", "2ms", "5ms"]).into());
    set("compute", dice.one_of(&["1ms", "5ms", "10ms"]).into());
    if dice.once_in(2) {
        set("drop_prob", dice.one_of(&["0.02", "0.1", "0.3"]).into());
    }
    if dice.once_in(3) {
        set("duplicate_prob", dice.one_of(&["0.05", "0.3"]).into());
    }
    if dice.once_in(3) {
        set("reorder_prob", dice.one_of(&["0.1", "0.5"]).into());
    }
    if dice.once_in(3) {
        set("jitter", dice.one_of(&["5ms", "20ms", "60ms"]).into());
    }
    if dice.once_in(3) {
        let factor = dice.one_of(&[2, 6, 20]);
        set("slow", format!("[{{nodes={:?},factor={factor}}}]", dice.some_of(nodes, 2)));
    }
    if dice.once_in(3) {
        let (count, from, long) = (1 + dice.below(2), dice.below(150), 20 + dice.below(150));
        let part = dice.some_of(nodes, count);
        set("partition", format!("[{{nodes={part:?},from=\"{from}ms\",until=\"{}ms\"}}]", from + long));
    }
    if dice.once_in(10) {
        set("online_prob", "0.8".into());
        set("slot", "40ms".into());
    }
    crashes(pairs, (nodes, may_return), dice);
}

/// Crashes for good, crashes with a return, pauses, and the end of everything.
fn crashes(pairs: &mut Vec<String>, (nodes, may_return): (usize, bool), dice: &mut Dice) {
    let mut all = Vec::new();
    for once_in in [2, 4] {
        if !dice.once_in(once_in) {
            continue;
        }
        let (count, at, away) = (1 + dice.below(2), dice.below(120), 2 + dice.below(150));
        let who = dice.some_of(nodes, count);
        all.push(match dice.below(if may_return { 4 } else { 2 }) {
            0 => format!("{{nodes={who:?},at=\"{at}ms\"}}"),
            1 => format!("{{nodes={who:?},at=\"{at}ms\",back=\"{}ms\",pause=true}}", at + away),
            _ => format!("{{nodes={who:?},at=\"{at}ms\",back=\"{}ms\"}}", at + away),
        });
    }
    if dice.once_in(6) {
        all.push(format!("{{fraction=1.0,at=\"{}ms\"}}", 5 + dice.below(200)));
    }
    if !all.is_empty() {
        pairs.push(format!("faults.crash=[{}]", all.join(",")));
    }
}
