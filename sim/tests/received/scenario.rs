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

pub(crate) struct Scenario {
    pairs: Vec<String>,
    /// ρ of the updates, where there is training.
    pub(crate) rho: Option<f64>,
    /// Contributions after which each node only mixes, where there is such a limit.
    pub(crate) most: Vec<Option<usize>>,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pairs.join("\n"))?;
        write!(f, "\n(limits on contributions: {:?})", self.most)?;
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
    /// Draws one; nothing where the draw is a run that is refused, such as a graph that is not connected.
    pub(crate) fn draw(dice: &mut Dice) -> Option<(Self, Setup)> {
        let nodes = 3 + dice.below(6);
        let mut pairs = common(nodes, dice);
        let rho = algorithm(&mut pairs, nodes, dice);
        faults(&mut pairs, nodes, dice);
        let layers = pairs.iter().map(|pair| Layer::from_flags("--set", &[pair]).unwrap());
        let mut setup = Setup::new(Config::from_layers(layers).ok()?).ok()?;
        setup.rho = rho;
        let limited = dice.once_in(2);
        let mut limit = |_| (limited && dice.once_in(2)).then(|| dice.below(4));
        let most = (0..nodes).map(&mut limit).collect();
        Some((Self { pairs, rho, most }, setup))
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
    let weights = dice.one_of(&["metropolis", "lazy-metropolis", "max-degree", "best-constant"]);
    vec![
        "name=received".into(),
        format!("nodes={nodes}"),
        format!("seed={}", dice.below(1 << 30)),
        format!("data=blobs:nodes={nodes},records=4,dim={NUMBERS},classes=2,test=0"),
        "partition=natural".into(),
        format!("topology={graph}"),
        format!("weights={weights}"),
        "batch_size=all".into(),
        "learning_rate=0.5".into(),
        "privacy.delta=1e-5".into(),
        format!("privacy.noise_multiplier={}", dice.one_of(&[1.0, 4.0])),
        "timeouts.resend=20ms".into(),
        "timeouts.silence=60ms".into(),
    ]
}

/// Chooses what they do; ρ of the updates.
fn algorithm(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) -> Option<f64> {
    let mut set = |pair: String| pairs.push(pair);
    match dice.below(8) {
        0..3 => {
            set("algorithm.kind=gossip".into());
            set("model.kind=logistic".into());
            set("privacy.adjacency=record".into());
            set(format!("rounds={}", 2 + dice.below(7)));
            set(format!("algorithm.mixing_steps={}", dice.one_of(&[1, 1, 1, 2, 3])));
            if dice.once_in(6) {
                set("algorithm.accelerate=true".into());
            }
            Some(dice.one_of(&[0.3, 0.7, 1.0, 1.0, 1.0, 1.2]))
        }
        3..5 => {
            set("algorithm.kind=mean".into());
            set("model.kind=mean".into());
            set("privacy.adjacency=node".into());
            let noisy = nodes <= 5 && dice.once_in(3);
            set(format!("algorithm.mixing_steps={}", 1 + dice.below(if noisy { 3 } else { 6 })));
            if noisy {
                set(format!("algorithm.message_noise={}", dice.one_of(&[0.1, 0.5, 2.0])));
            } else if dice.once_in(5) {
                set("algorithm.accelerate=true".into());
            }
            None
        }
        5..7 => {
            set("algorithm.kind=walk".into());
            set("model.kind=logistic".into());
            set("privacy.adjacency=record".into());
            set(format!("rounds={}", 2 + dice.below(5)));
            set(format!("algorithm.tokens={}", 1 + dice.below(3)));
            set(format!("algorithm.kernel={}", dice.one_of(&["simple", "lazy", "metropolis"])));
            Some(dice.one_of(&[0.7, 1.0, 1.0]))
        }
        _ => {
            set("algorithm.kind=rounds".into());
            set("model.kind=logistic".into());
            set("privacy.adjacency=record".into());
            set(format!("rounds={}", 2 + dice.below(5)));
            // Consensus hides nothing of the model, so nothing is gained by other updates.
            Some(1.0)
        }
    }
}

fn faults(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) {
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
    crashes(pairs, nodes, dice);
}

/// Crashes for good, crashes with a return, pauses, and the end of everything.
fn crashes(pairs: &mut Vec<String>, nodes: usize, dice: &mut Dice) {
    let mut all = Vec::new();
    if dice.once_in(2) {
        let (count, at, away) = (1 + dice.below(2), 1 + dice.below(120), 2 + dice.below(150));
        let who = dice.some_of(nodes, count);
        all.push(match dice.below(3) {
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
