//! What a node answers questions from, and what it allows: `[questions]` of this node alone.

use crate::commands::ask::{Swarm, Table, model};
use crate::failure::{Failure, Result};
use learn::data::{CoinOf, CsvOptions, read_bytes};
use learn::schema::Schema;
use protocol::Setup;
use protocol::agreement::Fingerprint;
use protocol::config::Config;
use protocol::work::Adjacency;
use protocol::work::question::{Exam, TestPart};
use runtime::asking::{Account, Respondent, Rules};
use runtime::data_ledger::DataLedger;
use runtime::swarm_file::SwarmFile;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names of the keys, for the hint.
const KEYS: &str = "`questions.from` (identities with a plus between, or `nobody`), `questions.epsilon`, `questions.total`, `questions.min_contributors` and `questions.max_records`";

/// Fewer members hide nobody.
const LEAST_MEMBERS: usize = 3;

/// The rules among `KEY=VALUE` words, and the other words.
pub(super) fn rules(words: &[String]) -> Result<(Rules, Vec<String>)> {
    let (mut rules, mut rest) = (Rules::default(), Vec::new());
    for word in words {
        match word
            .split_once('=')
            .and_then(|(key, value)| Some((key.trim().strip_prefix("questions.")?, value)))
        {
            Some((key, value)) => set(&mut rules, key, value.trim().trim_matches('"'))?,
            None => rest.push(word.clone()),
        }
    }
    Ok((rules, rest))
}

fn set(rules: &mut Rules, key: &str, value: &str) -> Result<()> {
    let wrong = |what: &str| {
        let text = format!("`questions.{key}` must be {what}: `{value}`");
        Failure::new(text).hint(format!("a node sets {KEYS}"))
    };
    let positive = || {
        let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| wrong("a positive number"))
    };
    let whole = || {
        let number = value.parse().ok().filter(|number: &u64| *number > 0);
        number.ok_or_else(|| wrong("a whole number from 1"))
    };
    match key {
        "from" if value == "nobody" => rules.from = Some(std::collections::BTreeSet::new()),
        "from" => {
            let peers = value.split(['+', ',', ' ']).filter(|part| !part.is_empty()).map(str::parse);
            let peers: std::result::Result<_, _> = peers.collect();
            rules.from = Some(peers.map_err(|_| wrong("identities, as `murmur node id` prints them"))?);
        }
        "epsilon" => rules.epsilon = positive()?,
        "total" => rules.total = positive()?,
        "min_contributors" => rules.min_contributors = Some(usize::try_from(whole()?).unwrap_or(usize::MAX)),
        "max_records" => rules.max_records = Some(whole()?),
        _ => {
            return Err(Failure::new(format!("there is no key `questions.{key}`"))
                .hint(format!("a node sets {KEYS}")));
        }
    }
    Ok(())
}

/// What the node answers from; nothing where the swarm file declares no columns, or too few are members.
pub(super) fn respondent(
    swarm: &SwarmFile,
    rules: Rules,
    source: Option<&(PathBuf, CsvOptions)>,
    account: (Option<String>, Option<f64>, &Path),
) -> Result<Option<Respondent>> {
    if swarm.schema.is_none() || swarm.nodes < LEAST_MEMBERS {
        return Ok(None);
    }
    let Swarm { columns, members, agreed, schema, .. } = Swarm::of(swarm)?;
    let table = match source {
        Some((path, options)) => {
            let (rows, persons) = Table::read(path, options, &columns, None)?.into_rows();
            let digest = Fingerprint::of("murmur table 1", &read_bytes(path)?).to_string();
            let exam = exam(&Config::from_toml(&swarm.config, "the swarm file")?, (path, options), &schema);
            Some(Arc::new(runtime::asking::Table { rows, persons, digest, exam }))
        }
        None => None,
    };
    let account = if table.is_some() { ledger(account)? } else { None };
    Ok(Some(Respondent { columns, schema, table, rules, agreed, members, account }))
}

/// The ledger of the data set; none where it has no name or there is no place for ledgers, and nobody asked for a limit over everything.
fn ledger((data, total, state): (Option<String>, Option<f64>, &Path)) -> Result<Option<Account>> {
    let Some(data) = data else {
        return match total {
            Some(_) => Err(Failure::new("`budget.total_epsilon` needs to know which data set it is about")
                .hint("name what comes through the pipe with `--data-name NAME`")),
            None => Ok(None),
        };
    };
    match DataLedger::of_user() {
        Ok(ledger) => {
            let state: PathBuf = std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
            Ok(Some(Account { ledger, data, total, state }))
        }
        Err(error) if total.is_some() => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The records by which this node tests models, or why it has none; nothing of it depends on what the records hold.
fn exam(
    config: &Config,
    (path, options): (&Path, &CsvOptions),
    schema: &Schema,
) -> std::result::Result<Exam, String> {
    let fraction = config.test_fraction;
    let part = match (config.questions_only, fraction > 0.0 && config.algorithm.kind.trains()) {
        (true, _) => TestPart::All,
        (false, true) => TestPart::Coin { fraction, key: config.seed, coin_of: coin_of(config, schema) },
        (false, false) if options.split.is_some() => TestPart::All,
        (false, false) => return Err("this node keeps no records apart to test models by".into()),
    };
    model::exam(path, options, schema, part)
        .map_err(|_| "this node's table has no column of what models predict".to_owned())
}

/// As the training of this node keeps records apart.
fn coin_of(config: &Config, schema: &Schema) -> CoinOf {
    let persons = config.privacy.adjacency == Adjacency::Person;
    if persons { CoinOf::Group } else { model::coin_of(schema) }
}

/// A swarm that trains nothing: its members meet, and that is all of the run.
pub(super) fn only(config: Config) -> Result<Setup> {
    let mut setup = Setup::new(config)?.of_node(0);
    Arc::make_mut(&mut setup.settings).rounds = 0;
    Ok(setup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_says_who_may_ask_what_and_bad_values_are_named() {
        let parse = |words: &[&str]| rules(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        let (found, rest) = parse(&[
            "questions.epsilon=0.5",
            "budget.epsilon=2",
            "questions.max_records=50",
            "questions.from=nobody",
        ])
        .unwrap();
        assert_eq!(rest, ["budget.epsilon=2"]);
        assert_eq!((found.epsilon, found.total, found.max_records), (0.5, 4.0, Some(50)));
        assert_eq!(found.from.map(|from| from.len()), Some(0));
        for (word, expected) in [
            ("questions.epsilon=-1", "must be a positive number: `-1`"),
            ("questions.total=inf", "must be a positive number: `inf`"),
            ("questions.min_contributors=0", "a whole number from 1"),
            ("questions.from=bob", "identities"),
            ("questions.who=me", "no key `questions.who`"),
        ] {
            let text = parse(&[word]).unwrap_err().to_string();
            assert!(text.contains(expected) && text.contains("hint:"), "{text}");
        }
    }
}
