//! `murmur verify DECISION MODEL`: whether the members of a swarm decided on this model.

use crate::commands::model::load;
use crate::failure::{Failure, Result};
use crate::output;
use protocol::agreement::{Decision, DecisionFile, Electorate};
use runtime::identity::peer_of;
use runtime::swarm_file::SwarmFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur verify murmur-state/model.decision murmur-state/model.safetensors
  murmur verify model.decision model.safetensors --swarm clinic.toml     and the members are those of this swarm file

Exit codes: 0 the members decided on this model, 1 they did not or it cannot be known, 2 error.";

/// Arguments of `murmur verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The decision that a node left beside its model: `model.decision`
    decision: PathBuf,
    /// The model: `model.safetensors`
    model: PathBuf,
    /// A swarm file whose pinned members must be those that decided
    #[arg(long, value_name = "FILE")]
    swarm: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
}

/// Reads both, checks signatures and digest, and says who signed.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let file = read(&args.decision)?;
    let saved = load(&args.model)?;
    let places: Vec<String> = file.terms.roster.iter().map(name).collect();
    let at = |place: u32| places.get(place as usize).cloned();
    let members: Vec<String> = file.terms.votes().into_iter().filter_map(at).collect();
    let pinned = args.swarm.as_deref().map(|path| is_pinned(path, &members)).transpose()?;
    let found = file.verify(&saved.params);
    let over = |decision: &Decision| decision.model.version >= file.terms.rounds;
    let reason = match &found {
        Err(error) => Some(error.to_string()),
        Ok(_) if pinned == Some(false) => Some("the members are not those of the swarm file".to_owned()),
        Ok(decision) if !over(decision) => {
            Some(format!("the run went on after round {}", decision.model.version))
        }
        Ok(_) => None,
    };
    let last = file.certificate.chain.last();
    let signed: Vec<&String> =
        last.iter().flat_map(|last| &last.commits).filter_map(|by| places.get(by.by as usize)).collect();
    let text = match args.format {
        Format::Json => json(&file, reason.as_deref(), &members, &signed)?,
        Format::Table => table(&file, reason.as_deref(), &members, &signed),
    };
    output::write(None, text.as_bytes())?;
    Ok(if reason.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn read(path: &Path) -> Result<DecisionFile> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::from(error).context(format!("cannot read `{}`", path.display())))?;
    DecisionFile::from_bytes(&bytes).map_err(|error| {
        let hint = "a node leaves `model.decision` beside its model when the run has reached its end";
        Failure::of(error, Some(hint.into())).context(format!("cannot use `{}`", path.display()))
    })
}

fn name(key: &[u8; 32]) -> String {
    peer_of(key).map_or_else(|| "no identity".to_owned(), |peer| peer.to_string())
}

fn is_pinned(path: &Path, members: &[String]) -> Result<bool> {
    let swarm = SwarmFile::load(path)?;
    let mut pinned: Vec<String> = swarm.roster.iter().map(|member| member.peer.to_string()).collect();
    let mut members = members.to_vec();
    pinned.sort_unstable();
    members.sort_unstable();
    Ok(pinned == members)
}

fn table(file: &DecisionFile, reason: Option<&str>, members: &[String], signed: &[&String]) -> String {
    let verdict = reason
        .map_or_else(|| "the members decided on this model".to_owned(), |why| format!("NOT PROVED: {why}"));
    let votes = Electorate { votes: (0..members.len() as u32).collect(), hostile: file.terms.hostile };
    let mut text = format!("{verdict}\n\nrun       {}\nrounds    {}\n", file.terms.name, file.terms.rounds);
    text.push_str(&format!(
        "signed    {} of {} members; {} are enough where at most {} are hostile\n",
        signed.len(),
        members.len(),
        votes.quorum(),
        file.terms.hostile
    ));
    if let Some(continued) = &file.terms.continued {
        let from = continued.start.epoch;
        text.push_str(&format!("renewed   {}: from decision {from} on\n", continued.renewal));
    }
    for member in members {
        let mark = if signed.contains(&member) { "signed" } else { "" };
        text.push_str(&format!("{mark:<10}{member}\n"));
    }
    text.push_str("\nWhether these are the members that you mean only you can know: compare them, or give `--swarm FILE`.\n");
    text
}

fn json(file: &DecisionFile, reason: Option<&str>, members: &[String], signed: &[&String]) -> Result<String> {
    let decided = file.certificate.chain.last().map(|last| &last.decision);
    let value = serde_json::json!({
        "valid": reason.is_none(),
        "reason": reason,
        "run": file.terms.name,
        "rounds": file.terms.rounds,
        "hostile": file.terms.hostile,
        "renewal": file.terms.continued.as_ref().map(|continued| continued.renewal.to_string()),
        "members": members,
        "signed": signed,
        "version": decided.map(|decision| decision.model.version),
        "model": decided.map(|decision| decision.model.digest.to_string()),
        "epoch": decided.map(|decision| decision.epoch),
    });
    Ok(serde_json::to_string_pretty(&value).map_err(|error| Failure::of(error, None))? + "\n")
}
