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

    /// All branches, each behind the one that it left. None unless each was left by who held the hop, and hangs together.
    fn branches(&self) -> Option<Vec<walk::Branch>> {
        let kin = Kin::of(self);
        // Those of which nothing was offered cost nothing, but somebody may say of them what cannot be.
        self.forks.keys().try_for_each(|branch| self.left(*branch, &kin).map(drop))?;
        let branch = |(branch, own): (&Branch, &BTreeMap<u32, (usize, bool)>)| {
            let left = self.left(*branch, &kin)?;
            self.is_whole(*branch).then(|| walk::Branch { left, hops: own.values().copied().collect() })
        };
        self.hops.iter().map(branch).collect()
    }

    /// Which branch this one left, by its place, and behind how many of its hops; nothing of that where it began with the public first model.
    fn left(&self, branch: Branch, kin: &Kin) -> Option<Option<(usize, usize)>> {
        if branch.1 == 0 {
            return Some(None);
        }
        let &Origin { first, node, .. } = self.forks.get(&branch)?;
        // A hop of its own before it began: somebody else began it too.
        if self.hops.get(&branch).is_some_and(|own| own.range(..first).next().is_some()) {
            return None;
        }
        let Some(last) = first.checked_sub(1) else {
            // Who added to the token at its first hop does not say so, and may have begun with that.
            let has_begun = kin.begun.get(&(branch.0, node)).is_some_and(|earliest| *earliest < branch.1);
            return (!has_begun).then_some(None);
        };
        let parent = kin.parents.get(&branch)?;
        let (hops, place) = (self.hops.get(parent)?, kin.places.get(parent)?);
        // Nobody holds hop 0 but who began: what it left goes on from nothing.
        let began = |origin: &Origin| origin.first == 0 && origin.node == node;
        let from_nothing = last == 0 && self.forks.get(parent).is_some_and(began);
        let was_held = hops.get(&last).is_some_and(|(holder, _)| *holder == node);
        (from_nothing || was_held).then(|| {
            // One hop is behind the other, as is looked at elsewhere.
            let behind = hops.keys().next().map_or(0, |begin| first.saturating_sub(*begin));
            Some((*place, behind as usize))
        })
    }

    /// Whether the hops of a branch are one behind the other, from where it left the one before it, and each holder has the token from the holder of the hop
    /// before, by everybody's lines.
    fn is_whole(&self, branch: Branch) -> bool {
        let Some(own) = self.hops.get(&branch) else { return false };
        let begin =
            self.forks.get(&branch).and_then(|origin| Some((origin.first.checked_sub(1)?, origin.node)));
        let holders = begin.into_iter().chain(own.iter().map(|(hop, (node, _))| (*hop, *node)));
        let next = own.keys().skip(usize::from(begin.is_none()));
        holders.zip(next).all(|((hop, holder), next)| {
            let senders = self.senders.get(&(branch, *next));
            hop.checked_add(1) == Some(*next)
                && senders.is_none_or(|from| from.iter().all(|from| *from == holder))
        })
    }
}

/// How branches stand to each other.
struct Kin {
    /// Their order, in which each is behind the one that it left.
    places: BTreeMap<Branch, usize>,
    /// The one in which a branch's last shared hop was held.
    parents: BTreeMap<Branch, Branch>,
    /// The first generation of a token to which a node added at hop 0.
    begun: BTreeMap<(u32, usize), u32>,
}

impl Kin {
    fn of(fold: &WalkFold) -> Self {
        let places = fold.hops.keys().enumerate().map(|(place, branch)| (*branch, place)).collect();
        let mut parents: BTreeMap<Branch, Branch> = BTreeMap::new();
        for (&(token, generation), origin) in &fold.forks {
            let named = (token, origin.parent);
            // Who started one copy again and again named it by the last generation that it had begun.
            let same = fold.forks.get(&named).is_some_and(|known| named.1 > 0 && known.first == origin.first);
            let parent = if same { parents.get(&named).copied() } else { Some(named) };
            // Of a generation that was begun and never offered nothing is known.
            let parent = parent.filter(|_| fold.hops.contains_key(&named));
            parent.map(|parent| parents.insert((token, generation), parent));
        }
        let mut begun = BTreeMap::new();
        for (&(token, generation), hops) in &fold.hops {
            if let Some(&(node, true)) = hops.get(&0) {
                begun.entry((token, node)).or_insert(generation);
            }
        }
        Self { places, parents, begun }
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
        let branches = self.branches().ok_or(APART)?;
        let priced =
            coalitions.iter().map(|watchers| walk::loss_of_branches(&branches, shape.nodes, watchers));
        let units: Result<Vec<Vec<f64>>, NetworkError> = priced.collect();
        Ok((units.map_err(|_| NOTHING_ELSE)?, "walk"))
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}
