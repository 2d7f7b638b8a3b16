//! In which keys two configurations differ.

use std::collections::BTreeMap;

/// Differences that are listed before the rest is only counted.
const LISTED: usize = 8;

/// What each node has for itself.
const OWN: [&str; 2] = ["data", "faults"];

/// One entry per key with both values; what is no TOML is one difference.
pub(crate) fn differences(ours: &str, theirs: &str) -> Vec<String> {
    let (Ok(ours), Ok(theirs)) = (ours.parse::<toml::Table>(), theirs.parse::<toml::Table>()) else {
        return vec!["one of them cannot be read".into()];
    };
    let (ours, theirs) = (flat(ours), flat(theirs));
    let own = |key: &&String| OWN.iter().any(|own| key.split('.').next() == Some(own));
    let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).filter(|key| !own(key)).collect();
    keys.sort_unstable();
    keys.dedup();
    let value = |of: &BTreeMap<String, String>, key: &String| {
        of.get(key).map_or("not set".into(), |value| clip(value))
    };
    let mut found: Vec<String> = keys
        .into_iter()
        .filter(|key| ours.get(*key) != theirs.get(*key))
        .map(|key| format!("{key}: ours {}, theirs {}", value(&ours, key), value(&theirs, key)))
        .collect();
    if found.len() > LISTED {
        let rest = found.len() - LISTED;
        found.truncate(LISTED);
        found.push(format!("and {rest} more"));
    }
    found
}

fn flat(table: toml::Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open: Vec<(String, toml::Value)> = table.into_iter().collect();
    while let Some((key, value)) = open.pop() {
        match value {
            toml::Value::Table(inner) => {
                open.extend(inner.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            value => {
                all.insert(key, value.to_string());
            }
        }
    }
    all
}

/// A peer's value is shown to a person: short, and without control characters.
fn clip(value: &str) -> String {
    value.chars().filter(|letter| !letter.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named() {
        let ours = "a = 1\nb = 2\n[c]\nd = \"x\"\ne = true";
        let theirs = "b = 2\na = 3\n[c]\nd = \"x\"\nf = 1.5";
        let found = differences(ours, theirs);
        let expected =
            ["a: ours 1, theirs 3", "c.e: ours true, theirs not set", "c.f: ours not set, theirs 1.5"];
        assert_eq!(found, expected);
        assert!(differences(ours, ours).is_empty());
        assert_eq!(differences("= =", ours), ["one of them cannot be read"]);
    }
}
