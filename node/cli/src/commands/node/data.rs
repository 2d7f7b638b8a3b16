//! The data of a node, and what follows from them.

use crate::commands::swarm::check::for_processes;
use crate::failure::{Failure, Result};
use learn::checkpoint::{self, CheckpointInfo};
use learn::data::{CsvOptions, DataError, DataSource, LabelUse, SourceKind};
use learn::model::ModelSpec;
use learn::schema::Schema;
use privacy::number::{Precision, given, up};
use protocol::Setup;
use protocol::config::{AlgorithmKind, Config};
use protocol::work::external::Trouble;
use runtime::driver::Danger;
use runtime::identity::close_to_others;
use runtime::swarm_file::SwarmFile;
use runtime::trainer::{Command, Process};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Which data are this node's.
#[derive(Debug, clap::Args)]
pub(super) struct DataArgs {
    /// This node's own data: a file or a named data set, as for `murmur data`
    #[arg(long, value_name = "SOURCE", allow_hyphen_values = true)]
    data: Option<String>,
    /// For demonstrations: share I of N of the run's own data set, divided as its configuration says
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// What the data set is called in the ledger of data sets [default: the path of the file]
    #[arg(long, value_name = "NAME")]
    data_name: Option<String>,
    /// A program that holds this node's data and computes with a model of its own (`model.kind = "external"`): docs/TRAINER.md
    #[arg(long, value_name = "CMD", conflicts_with_all = ["data", "shard", "index_by"])]
    trainer: Option<Command>,
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
    /// The name under which uses of the data are put down; `None` for a share of a data set that is everybody's.
    pub(super) fn account(&self) -> Option<String> {
        self.data_name.clone().or_else(|| self.data.as_deref().map(path_of))
    }

    /// The table that this node holds, where it is a file.
    pub(super) fn table(&self) -> Result<Option<(PathBuf, CsvOptions)>> {
        let Some(source) = &self.data else { return Ok(None) };
        Ok(match source.parse::<DataSource>()?.kind {
            SourceKind::Csv(path, options) => Some((path, options)),
            _ => None,
        })
    }

    /// The run as this node sees it, with what was renewed on the way.
    pub(super) fn setup(&self, swarm: &SwarmFile) -> Result<Setup> {
        let founded = self.founded(swarm)?;
        Ok(if swarm.renewals.is_empty() { founded } else { founded.renewed(&swarm.renewals.totals())? })
    }

    fn founded(&self, swarm: &SwarmFile) -> Result<Setup> {
        let config = Config::from_toml(&swarm.config, "the swarm file")?;
        for_processes(&config)?;
        if config.questions_only {
            return super::questions::only(config);
        }
        let external = matches!(config.model, ModelSpec::External { .. });
        if let Some(command) = &self.trainer {
            return trainer_setup(config, command);
        }
        if external {
            let text = "the model of this run is `external`: a trainer computes it";
            return Err(Failure::new(text).hint("name it: `--trainer 'python3 trainer.py'`"));
        }
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

/// The whole path of a source that is a file; the source itself where it is none.
fn path_of(source: &str) -> String {
    // As in `FILE:label=COLUMN`; the whole is tried first, as names of files may have colons.
    let candidates =
        std::iter::once(source).chain(source.match_indices(':').rev().map(|(at, _)| &source[..at]));
    let found = candidates.filter_map(|path| std::fs::canonicalize(path).ok()).find(|path| path.is_file());
    found.map_or_else(|| source.to_owned(), |path| path.display().to_string())
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

/// A node whose contributions a foreign program computes. Its troubles are told here and to nobody else.
fn trainer_setup(config: Config, command: &Command) -> Result<Setup> {
    // Others must not see that it was waited for in vain: it is given up well before this node is.
    let limit = Duration::from_micros(config.timeouts.silence / 2);
    let trainer = Process::start(command.clone(), limit)?;
    let complain = |_: usize, trouble: &Trouble| {
        tracing::error!("{trouble}; this contribution is noise on zeros, charged and sent as usual");
    };
    Ok(Setup::for_trainer(config, Box::new(trainer), Arc::new(complain))?)
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

/// What the members agreed to pay at most: the same in everybody's file, so that the files are the same.
fn planned(setup: &Setup) -> String {
    let (planned, privacy) = (&setup.planned, &setup.config.privacy);
    if !planned.local.is_finite() {
        return "none: there was no noise".into();
    }
    let [one, everybody] = [planned.worst, planned.local].map(|loss| up(loss, Precision::Digits(4)));
    format!(
        "planned for one {}: ε = {one} at δ = {} towards any one member (analysis `{}`), {everybody} towards everybody together (`local`); what it came to is in the report of each member",
        privacy.adjacency.word(),
        given(privacy.delta),
        planned.analysis,
    )
}

/// Keeps the model, once there is one.
pub(super) fn save_model(
    path: &Path,
    (setup, is_private): (&Setup, bool),
    (params, round): (&[f32], u32),
) -> Result<()> {
    let mut about = setup.about();
    if setup.layout.slots > 1 {
        let fact =
            "the model of this node's own slot: which slot that is tells to which group the node belongs";
        about.facts.insert("slot".into(), fact.into());
    }
    let info = CheckpointInfo {
        config_digest: setup.digest.to_string(),
        round: u64::from(round),
        guarantee: if is_private { planned(setup) } else { "none: the noise was seeded".into() },
        about: about.entries(),
    };
    checkpoint::save(path, setup.model.as_ref(), params, &info)?;
    close_to_others(path);
    Ok(())
}
