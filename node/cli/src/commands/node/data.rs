//! The data of a node, and what follows from them.

use crate::commands::swarm::check::for_processes;
use crate::failure::{Failure, Result};
use learn::checkpoint::{self, CheckpointInfo};
use learn::data::{DataError, DataSource, LabelUse, SourceKind};
use learn::model::Model;
use learn::saved::About;
use learn::schema::Schema;
use protocol::config::{AlgorithmKind, Config};
use protocol::{Digest, Setup};
use runtime::driver::{Danger, Outcome};
use runtime::swarm_file::SwarmFile;
use std::path::Path;
use std::sync::Arc;

/// Which data are this node's.
#[derive(Debug, clap::Args)]
pub(super) struct DataArgs {
    /// This node's own data: a file or a named data set, as for `murmur data`
    #[arg(long, value_name = "SOURCE", allow_hyphen_values = true)]
    data: Option<String>,
    /// For demonstrations: share I of N of the run's own data set, divided as its configuration says
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// The column that says to whom a record belongs
    #[arg(long, value_name = "COLUMN")]
    index_by: Option<String>,
}

/// One share of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    index: usize,
    of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parse = || {
            let (index, of) = text.split_once('/')?;
            let (index, of) = (index.parse().ok()?, of.parse().ok()?);
            (index < of).then_some(Self { index, of })
        };
        parse().ok_or_else(|| format!("`{text}` is no share such as `0/8` (counted from 0)"))
    }
}

impl DataArgs {
    /// The run as this node sees it.
    pub(super) fn setup(&self, swarm: &SwarmFile) -> Result<Setup> {
        let config = Config::from_toml(&swarm.config, "the swarm file")?;
        for_processes(&config)?;
        match (&self.data, self.shard) {
            (Some(_), Some(_)) => Err(Failure::new("`--data` and `--shard` exclude each other")),
            (Some(source), None) => {
                let source = match &self.index_by {
                    Some(column) => format!("{source}{}id={column}", if source.contains(':') { "," } else { ":" }),
                    None => source.clone(),
                };
                own_setup(config, source.parse()?, swarm)
            }
            (None, Some(shard)) => shard_setup(config, shard),
            (None, None) => Err(Failure::new("this node has no data").hint(match &swarm.schema {
                Some(_) => "name a file with `--data FILE`: the swarm file says what its columns are",
                None => {
                    "name a file with `--data FILE:label=COLUMN`, or take a share of the run's own with `--shard 0/8`"
                }
            })),
        }
    }
}

/// A node with a file of its own, read as the swarm's schema says or, where there is none, as the keys behind the file do.
fn own_setup(mut config: Config, source: DataSource, swarm: &SwarmFile) -> Result<Setup> {
    let (declared, schema) = match (&swarm.schema, &source.schema) {
        (Some(_), Some(_)) => {
            return Err(Failure::new(
                "the swarm file has a schema: `schema=` behind the file would be a second one",
            ));
        }
        (Some(schema), None) => (source.with_schema(schema, LabelUse::Needed)?, Some(schema.clone())),
        (None, Some(path)) => (source.clone(), Some(Schema::load(path).map_err(DataError::from)?)),
        (None, None) => {
            refuse_without_label(&source, config.algorithm.kind)?;
            (source.clone(), None)
        }
    };
    let loaded = declared.load(config.seed)?;
    // What was really used, for this node's own log and report; others have their own.
    config.data = source;
    Ok(Setup::for_own_data(config, loaded, schema.map(Arc::new))?)
}

/// A table of which no column is to be predicted teaches nothing: said before a column of words is taken for the mistake.
fn refuse_without_label(source: &DataSource, kind: AlgorithmKind) -> Result<()> {
    match &source.kind {
        SourceKind::Csv(path, options) if options.label.is_none() && kind.trains() => {
            let file = path.display();
            Err(Failure::new(format!(
                "`--data {source}` does not say which column of `{file}` is to be predicted"
            ))
            .hint(format!("name it: `--data {file}:label=COLUMN`")))
        }
        _ => Ok(()),
    }
}

fn shard_setup(config: Config, shard: Shard) -> Result<Setup> {
    if shard.of != config.nodes {
        let text = format!("`--shard {}/{}` but the swarm has {} nodes", shard.index, shard.of, config.nodes);
        return Err(Failure::new(text));
    }
    // All shares are known here, so everything is priced as in the simulator.
    Ok(Setup::new(config)?.of_node(shard.index))
}

/// Noise that everybody can compute, the same as in a simulation with this seed.
pub(super) fn danger(seed: u64) -> Danger {
    Danger {
        contribution: Box::new(move |node, count| sim::contribution_noise(seed, node, count)),
        message: Box::new(move |node, life| sim::message_noise(seed, node, life)),
    }
}

/// Keeps the model, once there is one.
pub(super) fn save_model(
    path: &Path,
    (model, digest, about): (&dyn Model, Digest, &About),
    outcome: &Outcome,
) -> Result<()> {
    if outcome.model.len() != model.parameter_count() || !outcome.model.iter().all(|value| value.is_finite())
    {
        return Ok(());
    }
    let info = CheckpointInfo {
        config_digest: digest.to_string(),
        round: u64::from(outcome.status.round),
        guarantee: "see the run's report".into(),
        about: about.entries(),
    };
    Ok(checkpoint::save(path, model, &outcome.model, &info)?)
}
