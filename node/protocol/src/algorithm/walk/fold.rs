//! `walk`, folded: the paths that the tokens really took.
//!
//! A token that was given up as lost and started again has branches that share their first part. The loss towards a watcher is the sum over the branches of
//! the loss on the whole path of each: the noise of the shared part may be shifted by the larger of the two shifts that the branches need, whose square is at
//! most the sum of theirs, so the sum bounds the joint view.
//!
//! A holder that added nothing hides nothing: its hop is left out of the path, unless it is the watcher, who has seen the token all the same.
//!
//! **Sent is seen.** Whoever a token was offered to has seen it at that hop, whether or not it says so, used it or was there: the sender writes the offer
//! down before it sends.

use std::collections::{BTreeMap, BTreeSet};

use privacy::network::{NetworkError, Watchers, walk};

use crate::account::units::{LOST_LINE, NOT_THERE, NOTHING_ELSE, SOME_LINES};
use crate::account::{Shape, Tally};
use crate::algorithm::{Algorithm, Fold, Priced};
use crate::event::RunEvent;

const APART: &str = "a branch of a token that does not hang together";

/// Token and generation.
type Branch = (u32, u32);

/// Where a branch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    /// The generation that it left.
    parent: u32,
    /// The first hop of its own; 0 where it begins with the public first model.
    first: u32,
    /// Who began it.
    node: usize,
}

/// The state of the fold.
#[derive(Debug, Clone, Default)]
pub(crate) struct WalkFold {
    /// Holder of each hop, by branch, and whether it contributed.
    hops: BTreeMap<Branch, BTreeMap<u32, (usize, bool)>>,
    /// From whom a hop's holder has the token, by the holders and by those who offered it.
    senders: BTreeMap<(Branch, u32), BTreeSet<usize>>,
    /// Hops whose holder wrote that it held the token, and those after which it was passed on.
    held: BTreeSet<(Branch, u32)>,
    passed: BTreeSet<(Branch, u32)>,
    /// Where a branch left an earlier one, and by whom.
    forks: BTreeMap<Branch, Origin>,
    uncovered: Option<&'static str>,
}

impl WalkFold {
    fn visit(&mut self, branch: Branch, hop: u32, (node, released): (usize, bool)) {
        let entry = self.hops.entry(branch).or_default().entry(hop).or_insert((node, false));
        if entry.0 != node || (entry.1 && released) {
            self.uncovered = Some("two holders of one hop");
        }
        entry.1 |= released;
    }

    /// A holder says that it has the token. Who has it again after it contributed, or passed it on, may send another state under the same name.
    fn hold(&mut self, branch: Branch, hop: u32, (node, from): (usize, usize)) {
        self.visit(branch, hop, (node, false));
        self.senders.entry((branch, hop)).or_default().insert(from);
        let released = self.hops[&branch].get(&hop).is_some_and(|(_, released)| *released);
        let again = !self.held.insert((branch, hop));
        if again && (released || self.passed.contains(&(branch, hop))) {
            self.uncovered.get_or_insert("a node did one hop twice");
        }
    }

    /// A holder is about to send the token on.
    fn offer(&mut self, branch: Branch, hop: u32, (node, to): (usize, usize)) {
        self.visit(branch, hop, (to, false));
        self.senders.entry((branch, hop)).or_default().insert(node);
        if let Some(own) = hop.checked_sub(1) {
            self.passed.insert((branch, own));
        }
    }

    /// Whether the hops of a path are one behind the other, and each holder has the token from the one before it, by everybody's lines.
    fn is_whole(&self, path: &BTreeMap<u32, (Branch, usize, bool)>) -> bool {
        path.iter().zip(path.iter().skip(1)).all(|((hop, (_, holder, _)), (next, (branch, ..)))| {
            let senders = self.senders.get(&(*branch, *next));
            hop.checked_add(1) == Some(*next)
                && senders.is_none_or(|from| from.iter().all(|from| from == holder))
        })
    }

    /// The branch goes on from what its holder passed on at `hop` under another generation. Which one, the holder says: it may have been offered the token
    /// again at the same hop since, and have had it from there or not.
    fn fork(&mut self, (token, generation): Branch, (node, hop): (usize, u32), copy_of: Option<u32>) {
        let origin = match copy_of {
            Some(parent) if parent < generation => Origin { parent, first: hop.saturating_add(1), node },
            // From the public first model anybody can start: nothing is shared with another branch.
            None if hop == 0 => Origin { parent: 0, first: 0, node },
            Some(_) | None => {
                self.uncovered = Some("a token was started again, and from which copy is not said");
                return;
            }
        };
        if self.forks.insert((token, generation), origin).is_some_and(|known| known != origin) {
            self.uncovered = Some("a generation of a token was started twice");
        }
    }

    /// The whole path of a branch: the shared part, then its own hops. None unless each part was left by who held its last hop.
    fn path(&self, branch: Branch) -> Option<Vec<(usize, bool)>> {
        let own = self.hops.get(&branch).into_iter().flatten();
        let mut hops: BTreeMap<u32, (Branch, usize, bool)> =
            own.map(|(hop, (node, released))| (*hop, (branch, *node, *released))).collect();
        let (mut at, mut left) = (branch, Vec::new());
        // Each parent is an earlier generation, so this ends.
        while at.1 > 0 {
            let &Origin { parent, first, node } = self.forks.get(&at)?;
            // A hop of its own before it began: somebody else began it too.
            if self.hops.get(&at).is_some_and(|own| own.range(..first).next().is_some()) {
                return None;
            }
            let Some(last) = first.checked_sub(1) else {
                // Who added to the token at its first hop does not say so, and may have begun with that.
                if self.has_begun(at, node) {
                    return None;
                }
                // Nobody holds hop 0 but who began: what it left goes on from nothing.
                left.retain(|&(hop, by)| hop != 0 || by != node);
                break;
            };
            left.push((last, node));
            at = (at.0, parent);
            for (hop, (node, released)) in self.hops.get(&at)?.range(..first) {
                hops.entry(*hop).or_insert((at, *node, *released));
            }
        }
        let was_held = |&(hop, by): &(u32, usize)| hops.get(&hop).is_some_and(|(_, holder, _)| *holder == by);
        let hangs_together = left.iter().all(was_held) && self.is_whole(&hops);
        hangs_together.then(|| hops.into_values().map(|(_, node, released)| (node, released)).collect())
    }

    /// Whether a node added to a token at hop 0 under an earlier generation.
    fn has_begun(&self, (token, generation): Branch, node: usize) -> bool {
        let mut earlier = self.hops.range((token, 0)..(token, generation));
        earlier.any(|(_, hops)| hops.get(&0) == Some(&(node, true)))
    }
}

impl Fold for WalkFold {
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Held { token, hop, generation, from } => {
                self.hold((*token, *generation), *hop, (node, *from as usize));
            }
            RunEvent::Offered { token, hop, generation, to } => {
                if *to as usize >= shape.nodes {
                    self.uncovered = Some(NOT_THERE);
                    return;
                }
                self.offer((*token, *generation), *hop, (node, *to as usize));
            }
            RunEvent::Released { round, token, generation, release, .. } => {
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                self.visit((*token, *generation), *round, (node, true));
            }
            RunEvent::TokenRestarted { token, hop, generation, copy_of } => {
                self.fork((*token, *generation), (node, *hop), *copy_of);
            }
            _ => {}
        }
    }

    fn lost_line(&mut self) {
        self.uncovered = Some(LOST_LINE);
    }

    /// Every hop of every token, and of every branch that is known.
    fn room(&self, shape: &Shape) -> u64 {
        let Algorithm::Walk(settings) = &shape.algorithm else { return u64::from(shape.rounds) };
        u64::from(shape.rounds) * (settings.starts.len() as u64 + self.forks.len() as u64)
    }

    fn units(&self, shape: &Shape, coalitions: &[Watchers]) -> Priced {
        if shape.witnesses.is_some() {
            return Err(SOME_LINES);
        }
        if let Some(why) = self.uncovered {
            return Err(why);
        }
        if !shape.rho.is_some_and(|rho| rho <= 1.0) {
            return Err("the update is not certified to be non-expansive");
        }
        let whole = |branch: &Branch| self.path(*branch).ok_or(APART);
        // Those of which nothing was offered cost nothing, but somebody says of them what cannot be.
        self.forks.keys().try_for_each(|branch| whole(branch).map(drop))?;
        let paths = self.hops.keys().map(whole).collect::<Result<Vec<_>, _>>()?;
        let priced = coalitions.iter().map(|watchers| losses_towards(shape.nodes, &paths, watchers));
        let units: Result<Vec<Vec<f64>>, NetworkError> = priced.collect();
        Ok((units.map_err(|_| NOTHING_ELSE)?, "walk"))
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}

/// Unit losses towards watchers that pool what they saw, over all branches of all tokens.
fn losses_towards(
    nodes: usize,
    paths: &[Vec<(usize, bool)>],
    watchers: &Watchers,
) -> Result<Vec<f64>, NetworkError> {
    let mut total = vec![0.0; nodes];
    for path in paths {
        let seen = path.iter().filter(|(holder, released)| *released || watchers.contains(*holder));
        let path: Vec<usize> = seen.map(|(holder, _)| *holder).collect();
        if !path.is_empty() {
            let one = walk::loss(&path, nodes, watchers)?;
            total.iter_mut().zip(one).for_each(|(sum, mu2)| *sum += mu2);
        }
    }
    Ok(total)
}
