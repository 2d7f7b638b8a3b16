//! `murmur swarm renew`: a swarm file with other members, or other settings, for a run that is under way.

use super::init::member;
use crate::failure::{Failure, Result};
use protocol::agreement::{Electorate, Terms, hostile_by_default};
use protocol::config::Config;
use runtime::ledger::{Stand, stand};
use runtime::renewals::{Joining, Renewal, Renewals, Words};
use runtime::swarm_file::{Member, SwarmFile};
use runtime::{PeerId, Secret};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur swarm renew clinic.toml --without Basel --state murmur-state --out clinic-2.toml     a machine died for good
  murmur swarm renew clinic.toml --replace Basel=12D3KooW… --state murmur-state --out clinic-2.toml
  murmur swarm renew clinic.toml --member Bern=12D3KooW… --state murmur-state --out clinic-2.toml
  murmur swarm renew clinic.toml --set rounds=80 --new-secret --state murmur-state --out clinic-2.toml
  murmur swarm renew clinic-2.toml                                                            reads what it changes

All nodes are stopped before. The file goes to every remaining operator, who reads it and starts the node with it and with its own state. The run goes on when
all of them have: nobody is in a renewed run by the word of others. Ledgers go on: what was spent stays spent.";

/// Arguments of `murmur swarm renew`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The swarm file of the run as it is; alone, what its last renewal changed
    file: PathBuf,
    /// A member that takes part no more, by name or identity
    #[arg(long, value_name = "MEMBER")]
    without: Vec<String>,
    /// A member that goes on with another identity: its name or old identity, `=`, and the new one (`PEER_ID` or `ADDR/p2p/PEER_ID`)
    #[arg(long, value_name = "MEMBER=NEW")]
    replace: Vec<String>,
    /// A member that joins: `PEER_ID` or `ADDR/p2p/PEER_ID`, with its name in front (`Bern=PEER_ID`)
    #[arg(long, value_name = "MEMBER")]
    member: Vec<String>,
    /// How many of the members may be hostile from now on [default: as many as before, below a third]
    #[arg(long, value_name = "N")]
    hostile: Option<u32>,
    /// A setting that may change on the way: `rounds` or `learning_rate`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Make another secret, so that who has the old file knows nothing any more
    #[arg(long)]
    new_secret: bool,
    /// The folder of a node of the run, which knows what was decided last: that of the node that was stopped last
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
    /// Where to write the renewed file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Settings that may change on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Changes {
    rounds: Option<u32>,
    learning_rate: Option<f64>,
}

/// Writes the file, or reads what it changes.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let swarm = SwarmFile::load(&args.file)?;
    let Some(out) = &args.out else { return read(args, &swarm) };
    if swarm.roster.is_empty() {
        return Err(Failure::new(
            "only a swarm whose members are named can be renewed: anybody could be anybody else",
        )
        .hint("make the next swarm file with `--member NAME=PEER_ID` for each of them"));
    }
    let stand = known(&args.state, &swarm)?;
    let terms = stand.begun.part.terms.clone().ok_or_else(|| unfit(&args.state))?;
    let founders = if swarm.renewals.is_empty() { &swarm.roster } else { &swarm.renewals.founders };
    let mut renewals = Renewals { founders: founders.clone(), steps: swarm.renewals.steps.clone() };
    renewals.steps.push(step(args, &swarm, (&stand, &terms))?);
    renewals.check().map_err(Failure::new)?;
    let secret = if args.new_secret {
        Secret::generate().map_err(|error| Failure::of(error, None))?
    } else {
        swarm.secret.clone()
    };
    let (nodes, roster) = (renewals.members().len(), renewals.members());
    let renewed = SwarmFile { secret, nodes, roster, renewals, ..swarm.clone() };
    prove(&renewed, &stand, &terms)?;
    runtime::swarm_file::no_member_is_a_relay(&renewed.relays, &renewed.roster).map_err(Failure::new)?;
    renewed.create(out)?;
    tell(&renewed, (&swarm, &stand, &terms), out)?;
    Ok(ExitCode::SUCCESS)
}

/// What the last renewal of a file changed.
fn read(args: &Args, swarm: &SwarmFile) -> Result<ExitCode> {
    let changes =
        [&args.without, &args.replace, &args.member, &args.set].iter().any(|words| !words.is_empty());
    if changes || args.hostile.is_some() || args.new_secret {
        return Err(Failure::new("`--out FILE` is missing: where the renewed file is to go"));
    }
    let text = match swarm.renewals.steps.len().checked_sub(1) {
        Some(at) => Words { renewals: &swarm.renewals, at }.to_string(),
        None => "the file is as the run was founded: nothing was renewed\n".to_owned(),
    };
    crate::output::write(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn unfit(state: &Path) -> Failure {
    Failure::new(format!("the node in `{}` was in this run with an older program", state.display()))
}

/// Where a node of the run stands.
fn known(state: &Path, swarm: &SwarmFile) -> Result<Stand> {
    let hint = "name the folder of a node of the run, which has been stopped: `--state DIR`";
    let stand = stand(state)?.ok_or_else(|| {
        Failure::new(format!("the node in `{}` has begun no run", state.display())).hint(hint)
    })?;
    if stand.finished {
        return Err(Failure::new("the run is over: there is nothing to go on with")
            .hint("`murmur swarm init` makes the file of another run"));
    }
    if stand.begun.part.renewals != swarm.renewal_digests() {
        let (has, file) = (stand.begun.part.renewals.len(), swarm.renewals.steps.len());
        let text = format!(
            "the node in `{}` has accepted {has} renewals, and not those of this file, which has {file}",
            state.display()
        );
        return Err(Failure::new(text).hint("renew the file with which the node ran last"));
    }
    if !stand.begun.roster.members().iter().all(|peer| swarm.roster.iter().any(|member| member.peer == *peer))
    {
        return Err(Failure::new(format!("the node in `{}` was in another run", state.display())).hint(hint));
    }
    Ok(stand)
}

fn step(args: &Args, swarm: &SwarmFile, (stand, terms): (&Stand, &Terms)) -> Result<Renewal> {
    let mut without =
        args.without.iter().map(|text| resolve(text, &swarm.roster)).collect::<Result<Vec<PeerId>>>()?;
    let mut joins = Vec::new();
    for text in &args.replace {
        let (old, new) = text.split_once('=').ok_or_else(|| {
            Failure::new(format!("`--replace {text}` is no `MEMBER=NEW`"))
                .hint("such as `--replace Basel=PEER_ID`")
        })?;
        let old = resolve(old, &swarm.roster)?;
        let name =
            swarm.roster.iter().find(|member| member.peer == old).and_then(|member| member.name.clone());
        without.push(old);
        joins.push(Joining { member: Member { name, ..member(new)? }, replaces: Some(old) });
    }
    for text in &args.member {
        joins.push(Joining { member: member(text)?, replaces: None });
    }
    let changes = changes(&args.set, terms.rounds)?;
    let nothing = without.is_empty() && joins.is_empty() && changes == Changes::default();
    if nothing && args.hostile.is_none() && !args.new_secret {
        return Err(Failure::new("nothing changes")
            .hint("say what: `--without`, `--replace`, `--member`, `--hostile`, `--set` or `--new-secret`"));
    }
    let members = swarm.roster.len() + joins.len() - without.len().min(swarm.roster.len());
    let most = hostile_by_default(members);
    let as_before =
        if terms.hostile == hostile_by_default(swarm.roster.len()) { most } else { terms.hostile };
    Ok(Renewal {
        without,
        joins,
        hostile: args.hostile.unwrap_or(as_before.min(most)),
        // Others may be a round further than this node.
        next_round: stand.next_round.saturating_add(1),
        rounds: changes.rounds,
        learning_rate: changes.learning_rate,
        decision: stand.certificate.clone(),
    })
}

/// A member by its name or identity.
fn resolve(text: &str, roster: &[Member]) -> Result<PeerId> {
    let is_it = |member: &&Member| member.name.as_deref() == Some(text) || member.peer.to_string() == text;
    let mut found = roster.iter().filter(is_it);
    match (found.next(), found.next()) {
        (Some(member), None) => Ok(member.peer),
        (Some(_), Some(_)) => {
            Err(Failure::new(format!("several members are called `{text}`")).hint("name it by its identity"))
        }
        (None, _) => {
            let names: Vec<String> = roster
                .iter()
                .map(|member| member.name.clone().unwrap_or_else(|| member.peer.to_string()))
                .collect();
            Err(Failure::new(format!("no member is called `{text}`"))
                .hint(format!("they are {}", names.join(", "))))
        }
    }
}

/// The settings that change: of all others every member has planned its noise with what they are.
fn changes(words: &[String], rounds: u32) -> Result<Changes> {
    let mut changes = Changes::default();
    for word in words {
        let allowed = "on the way only `rounds` and `learning_rate` may change, such as `--set rounds=80`";
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| Failure::new(format!("`--set {word}` is no `KEY=VALUE`")).hint(allowed))?;
        let bad = || Failure::new(format!("`{key}` cannot be `{value}`"));
        match key.trim() {
            "rounds" => {
                let wanted = value.trim().parse().ok().filter(|&rounds: &u32| rounds > 0).ok_or_else(bad)?;
                changes.rounds = Some(wanted).filter(|&wanted| wanted != rounds);
            }
            "learning_rate" => {
                let rate = value.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
                changes.learning_rate = Some(rate.ok_or_else(bad)?);
            }
            key => {
                return Err(Failure::new(format!(
                    "`{key}` cannot change on the way: every member rests on what was agreed at first"
                ))
                .hint(allowed));
            }
        }
    }
    Ok(changes)
}

/// The file must go on from what this node knows, as every member will check.
fn prove(renewed: &SwarmFile, stand: &Stand, terms: &Terms) -> Result<Terms> {
    let (Some(step), Some(digest)) = (renewed.renewals.steps.last(), renewed.renewal_digests().pop()) else {
        return Ok(terms.clone());
    };
    let config = Config::from_toml(&renewed.config, "the swarm file")?;
    if !config.algorithm.kind.has_totals() {
        let kind = config.algorithm.kind.name();
        return Err(Failure::new(format!("`algorithm.kind = \"{kind}\"` has no decisions to go on from"))
            .hint("only runs of `rounds` can be renewed"));
    }
    Ok(step.terms(terms.clone(), stand.begun.places().members(), digest)?)
}

/// What was written, and what it means.
fn tell(renewed: &SwarmFile, (before, stand, terms): (&SwarmFile, &Stand, &Terms), out: &Path) -> Result<()> {
    let at = renewed.renewals.steps.len() - 1;
    let step = &renewed.renewals.steps[at];
    eprint!("{}", Words { renewals: &renewed.renewals, at });
    let last = stand.certificate.chain.last().map(|last| last.decision.electorate.clone());
    let votes = last.unwrap_or_else(|| Electorate { votes: terms.votes(), hostile: terms.hostile });
    let places = stand.begun.places();
    let stay = votes
        .votes
        .iter()
        .filter(|&&place| places.peer(place).is_some_and(|peer| !step.without.contains(peer)));
    let (stay, quorum) = (stay.count(), votes.quorum());
    if stay < quorum {
        eprintln!(
            "warning: {stay} members stay of {} that decided, and {quorum} were needed: if the others still run, they go on without you, and there are two runs from here",
            votes.votes.len()
        );
    }
    if let Some(rounds) = step.rounds {
        more_rounds(&Config::from_toml(&renewed.config, "the swarm file")?, rounds);
    }
    let members = renewed.roster.len();
    let out = out.display();
    eprintln!(
        "wrote `{out}`. Hand it to the operators of all {members} members. Each reads it (`murmur swarm renew {out}`) and starts its node with `--swarm {out}` and its own `--state`; the run goes on when all {members} have."
    );
    if !before.roster.iter().any(|member| step.without.contains(&member.peer)) {
        return Ok(());
    }
    if renewed.secret == before.secret {
        eprintln!(
            "Whoever is taken out still knows the secret, and is refused by its identity; `--new-secret` makes another."
        );
    }
    Ok(())
}

fn more_rounds(config: &Config, rounds: u32) {
    let planned = config.rounds;
    if rounds <= planned {
        return;
    }
    match config.privacy.epsilon.filter(|epsilon| epsilon.is_finite()) {
        Some(epsilon) => eprintln!(
            "warning: the noise was planned for {planned} rounds: the budget of ε = {epsilon} holds over all {rounds}, and nodes that have spent it add no more data"
        ),
        None => eprintln!(
            "warning: the noise was planned for {planned} rounds, and there is no budget: {rounds} rounds cost more, as the report says"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_change_changes_and_the_rest_is_refused_by_name() {
        let set =
            |words: &[&str]| changes(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), 40);
        let both = Changes { rounds: Some(80), learning_rate: Some(0.25) };
        assert_eq!(set(&["rounds=80", "learning_rate=0.25"]).unwrap(), both);
        assert_eq!(set(&["rounds=40"]).unwrap(), Changes::default(), "as it was");
        for (word, says) in [
            ("privacy.epsilon=9", "`privacy.epsilon` cannot change on the way"),
            ("batch_size=3", "`batch_size` cannot change on the way"),
            ("rounds=-1", "`rounds` cannot be `-1`"),
            ("learning_rate=nan", "`learning_rate` cannot be `nan`"),
            ("rounds", "no `KEY=VALUE`"),
        ] {
            let text = set(&[word]).unwrap_err().to_string();
            assert!(text.contains(says), "{text}");
        }
    }
}
