//! What stands at the head of this node's log and report: names, numbers and digests. Nothing of it is sent but the name.

use crate::failure::{Failure, Result};
use learn::data::{Dataset, fingerprint};
use protocol::Setup;
use protocol::log::{Declared, LONGEST_NAME, readable_name};
use protocol::work::Adjacency;
use runtime::asking::Respondent;
use runtime::identity::Identity;
use runtime::swarm_file::SwarmFile;
use std::collections::BTreeMap;
use std::path::Path;

/// The commit of this program.
pub(crate) const COMMIT: &str = env!("MURMUR_COMMIT");

/// A name as it was given.
pub(super) fn name(text: &str) -> std::result::Result<String, String> {
    let readable = readable_name(text).filter(|name| name == text.trim());
    readable.ok_or_else(|| format!("a name has 1 to {LONGEST_NAME} letters on one line"))
}

/// What this node declares.
pub(super) fn of(setup: &Setup, (name, state): (Option<&str>, &Path), swarm: &SwarmFile) -> Result<Declared> {
    let train = setup.train.first();
    // A column of groups may be one of hospitals: only a declared one is of persons.
    let of_persons = setup.schema.as_ref().is_some_and(|schema| schema.person.is_some());
    let by_person = setup.config.privacy.adjacency == Adjacency::Person;
    let persons = train.filter(|_| of_persons || by_person).and_then(persons);
    Ok(Declared {
        name: named(name, state, swarm)?,
        data: setup.config.data.to_string(),
        data_digest: train.map(fingerprint).unwrap_or_default(),
        records: train.map_or(0, Dataset::len) as u64,
        kept_apart: setup.test.as_ref().map_or(0, Dataset::len) as u64,
        persons: persons.map(|(persons, _)| persons),
        most_of_person: persons.map(|(_, most)| most),
        inputs: train.map_or(0, Dataset::columns) as u64,
        commit: COMMIT.to_owned(),
        ..Declared::default()
    })
}

/// What a node declares that answers questions only.
pub(super) fn of_table(
    respondent: &Option<Respondent>,
    (name, state): (Option<&str>, &Path),
    swarm: &SwarmFile,
) -> Result<Declared> {
    let table = respondent.as_ref().and_then(|respondent| respondent.table.as_ref());
    Ok(Declared {
        name: named(name, state, swarm)?,
        data: "a table for questions".into(),
        data_digest: table.map_or_else(String::new, |table| table.digest.clone()),
        records: table.map_or(0, |table| table.rows.len()) as u64,
        commit: COMMIT.to_owned(),
        ..Declared::default()
    })
}

/// The name of this node: that of the swarm file, which another cannot replace.
fn named(given: Option<&str>, state: &Path, swarm: &SwarmFile) -> Result<Option<String>> {
    let me = Identity::load_or_create(state)?.peer_id();
    let agreed = swarm.roster.iter().find(|member| member.peer == me).and_then(|member| member.name.clone());
    match (agreed, given) {
        (Some(agreed), Some(given)) if agreed != given => {
            Err(Failure::new(format!("the swarm file calls this node `{agreed}`, not `{given}`"))
                .hint("leave `--name` out: all members agreed on the names in the file"))
        }
        (Some(agreed), _) => Ok(Some(agreed)),
        (None, given) => Ok(given.map(str::to_owned)),
    }
}

/// How many persons the records are about, and the most records of one; `None` where no column says so.
fn persons(data: &Dataset) -> Option<(u64, u64)> {
    let mut records: BTreeMap<u32, u64> = BTreeMap::new();
    data.group_of_records()?.iter().for_each(|&person| *records.entry(person).or_default() += 1);
    Some((records.len() as u64, records.values().copied().max()?))
}
