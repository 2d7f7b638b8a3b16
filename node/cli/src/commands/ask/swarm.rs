//! A question to a running swarm, by the node of the person who asks.

use crate::output::say;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use learn::schema::Schema;
use protocol::config::Config;
use protocol::work::Adjacency;
use protocol::work::question::{Ask, Members, Question};
use questions::columns::Columns;
use questions::noise::{Trust, Unit};
use questions::refusal::Refusal;
use runtime::asking::{Agreed, Call, Reply, Rules, call};
use runtime::swarm_file::SwarmFile;

use super::model::Model;
use super::{Args, confirmed, declared, show_plan, write};
use crate::failure::{Failure, Result};

/// What is left to be asked, and who is asked.
pub(crate) struct Swarm {
    pub(crate) columns: Arc<Columns>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) members: Members,
    pub(crate) agreed: Agreed,
    least_records: u64,
}

impl Swarm {
    /// What a swarm file says about questions.
    pub(crate) fn of(file: &SwarmFile) -> Result<Self> {
        let config = Config::from_toml(&file.config, "the swarm file")?;
        let Some(schema) = &file.schema else {
            return Err(Failure::new("the swarm file declares no columns")
                .hint("columns are declared, never discovered: `murmur swarm init --questions --schema schema.toml`"));
        };
        let columns = declared::of_text(&schema.to_toml(), "the swarm file")?;
        let members = Members {
            nodes: config.nodes,
            colluders: config.privacy.colluders,
            hostile: config.hostile_members(),
            timeouts: config.timeouts,
        };
        Ok(Self {
            columns: Arc::new(columns),
            schema: Arc::new(schema.clone()),
            members,
            agreed: Agreed { unit: config.privacy.adjacency, delta: config.privacy.delta },
            least_records: (config.nodes * config.partition.min_size) as u64,
        })
    }
}

/// Plans, asks whether to go on, and has the own node ask.
pub(super) fn run(args: &Args, path: &Path) -> Result<ExitCode> {
    refuse_flags(args)?;
    let swarm = Swarm::of(&SwarmFile::load(path)?)?;
    let model = Model::of(args, Some(&swarm.schema))?;
    let columns = match &model {
        Some(model) => Arc::new(model.judged.columns(&swarm.columns)?),
        None => swarm.columns.clone(),
    };
    let unit = match (args.unit, args.trust()) {
        // Where nobody is trusted each member is one person, and of a member with more one record is drawn.
        (None, Trust::Local) => Unit::Node { max_records: 1 },
        (Some(_), _) => args.unit(columns.person.as_deref())?,
        (None, _) => unit_of(swarm.agreed.unit, args)?,
    };
    let ask = Ask {
        question: model.as_ref().map_or_else(|| args.question.clone(), |model| model.question(args)),
        epsilon: args.epsilon,
        delta: args.delta.unwrap_or(swarm.agreed.delta),
        unit,
        records: args.expect.unwrap_or(swarm.least_records),
        trust: args.trust(),
        model: model.as_ref().map(|model| model.digest.clone()),
    };
    local_unit(&ask)?;
    let question = Question::new(ask.clone(), columns, swarm.members)?;
    let plan = question.plan(swarm.members.nodes)?;
    let left = left(args)?;
    if args.plan {
        return show_plan(args, &plan, left);
    }
    if !args.yes && !confirmed(&plan, left)? {
        say!("nothing was asked and nothing was spent");
        return Ok(ExitCode::from(1));
    }
    match call(&args.state, Call::Ask { ask, model: model.map(|model| model.path) })? {
        Reply::Answered { totals, stored, left } => {
            let unreadable = || Failure::new("the node answered with totals of another question");
            let plan = question.plan(totals.last().ok_or_else(unreadable)?.members)?;
            let found = question.answers(&totals, args.population)?.ok_or_else(unreadable)?;
            let spent = if stored { 0.0 } else { args.epsilon };
            write(args, (&plan, &found), (spent, left))
        }
        Reply::Refused { why, charged } => {
            let spent = if charged { "what was recorded is charged" } else { "nothing was spent" };
            Err(Failure::new(format!("the swarm gave no answer: {why}")).hint(spent))
        }
        Reply::Left(_) => Err(Failure::new("the node answered another question")),
    }
}

/// What the own node has left; where only a plan is wanted it need not run.
fn left(args: &Args) -> Result<f64> {
    match call(&args.state, Call::Left) {
        Ok(Reply::Left(left)) => Ok(left),
        Ok(_) => Err(Failure::new("the node answered another question")),
        Err(_) if args.plan => Ok(Rules::default().total),
        Err(error) => Err(error.into()),
    }
}

/// What the members agreed to protect.
fn unit_of(protected: Adjacency, args: &Args) -> Result<Unit> {
    Ok(match protected {
        Adjacency::Record => Unit::Record,
        Adjacency::Person => Unit::Person,
        Adjacency::Node => match args.max_records {
            Some(max_records) if max_records > 0 => Unit::Node { max_records },
            _ => return Err(Refusal::NoMaxRecords.into()),
        },
    })
}

/// What only a simulation can choose.
fn refuse_flags(args: &Args) -> Result<()> {
    let given = [
        ("--column", !args.column.is_empty()),
        ("--schema", args.schema.is_some()),
        ("--nodes", args.nodes.is_some()),
        ("--by", args.by.is_some()),
        ("--colluders", args.colluders.is_some()),
        ("--person", args.person.is_some()),
        ("--total", args.total.is_some()),
        ("--split", args.split.is_some()),
        ("--test-fraction", args.test_fraction.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::new(format!("`{flag}` is for `--try`: a swarm has what its file says")));
    }
    Ok(())
}

/// A member of whom one record counts is one person; more would be answered for by one response.
fn local_unit(ask: &Ask) -> Result<()> {
    match (ask.trust, ask.unit) {
        (Trust::Local, Unit::Node { max_records: 1 }) | (Trust::Masked | Trust::Gossip, _) => Ok(()),
        (Trust::Local, _) => {
            Err(Failure::new("with `--trust local` each member is one person with one record")
                .hint("leave `--unit` out, or say `--unit node --max-records 1`"))
        }
    }
}
