//! What the records of a node look like: features, their names, classes. Two nodes whose schemas differ would add up numbers that mean different things.
//!
//! Nodes compare a digest, and where it differs the listing, so that the difference can be named. A file without names is compared by what it has.
//! Names are metadata, not protected: members of the swarm may see them.

use std::collections::BTreeSet;

use protocol::Digest;
use protocol::work::Form;
use serde::{Deserialize, Serialize};

/// Differences of one kind that are listed before the rest is only counted.
const LISTED: usize = 40;
/// Characters of a name that travel.
const LONGEST: usize = 120;
/// Bytes of all names of one kind that travel; the digest is about all.
const SHOWN: usize = 64 * 1024;
/// Classes up to which a hint writes out how to declare them.
const HINTED: usize = 20;

/// The form of a node's records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Schema {
    /// Numbers per record.
    pub features: u64,
    /// What is to be predicted: `classes`, `numbers` or `nothing`.
    pub target: String,
    /// Number of classes.
    pub classes: Option<u64>,
    /// Names of the features, in order.
    pub columns: Option<Names>,
    /// Names of the classes, in order.
    pub class_names: Option<Names>,
}

/// Names in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Of all of them.
    pub digest: [u8; 16],
    /// The first ones.
    pub shown: Vec<String>,
}

impl Names {
    /// All names, of which as many are shown as fit into a frame.
    pub fn new(names: &[String]) -> Self {
        let mut room = SHOWN;
        let fits = |name: &String| {
            let left = room.checked_sub(name.len() + 8)?;
            room = left;
            Some(name.clone())
        };
        let short = |name: &String| name.chars().take(LONGEST).collect::<String>();
        let shown = names.iter().map(short).collect::<Vec<_>>().iter().map_while(fits).collect();
        // Quoted by `Debug`, so that no two lists have one text.
        Self { digest: Digest::of_text(&format!("{names:?}")).0, shown }
    }
}

impl Schema {
    /// The schema of records of this form.
    pub fn of(form: &Form) -> Self {
        Self {
            features: form.features as u64,
            target: form.target.into(),
            classes: form.classes.map(|classes| classes as u64),
            columns: form.feature_names.as_deref().map(Names::new),
            class_names: form.class_names.as_deref().map(Names::new),
        }
    }

    /// Digest of all of it.
    pub fn digest(&self) -> Digest {
        let mut text = format!("features {}\ntarget {}\n", self.features, self.target);
        if let Some(classes) = self.classes {
            text.push_str(&format!("classes {classes}\n"));
        }
        for (kind, names) in [("columns", &self.columns), ("class names", &self.class_names)] {
            if let Some(names) = names {
                text.push_str(&format!("{kind} {}\n", Digest(names.digest)));
            }
        }
        Digest::of_text(&text)
    }

    /// What differs, of that which both have.
    pub(crate) fn differences(&self, theirs: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, ours: String, theirs: String| {
            if ours != theirs {
                found.push(format!("{what}: ours {}, theirs {}", clip(&ours), clip(&theirs)));
            }
        };
        compare("features", self.features.to_string(), theirs.features.to_string());
        compare("what is to be predicted", self.target.clone(), theirs.target.clone());
        if let (Some(ours), Some(theirs)) = (self.classes, theirs.classes) {
            compare("number of classes", ours.to_string(), theirs.to_string());
        }
        let pairs =
            [("feature", &self.columns, &theirs.columns), ("class", &self.class_names, &theirs.class_names)];
        for (kind, ours, theirs) in pairs {
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                found.extend(different_names(kind, ours, theirs));
            }
        }
        found
    }

    /// What to do about them.
    pub(crate) fn advice(&self, theirs: &Self) -> String {
        let mut advice = Vec::new();
        if self.features != theirs.features || self.columns != theirs.columns {
            advice.push("every node needs the same features in the same order; `murmur swarm init --schema` makes it so, whatever the order of the files".to_owned());
        }
        if self.classes != theirs.classes || self.class_names != theirs.class_names {
            let all = self.all_classes(theirs).unwrap_or_else(|| "A+B+C".to_owned());
            advice.push(format!(
                "`classes={all}` behind `--data FILE:label=…,` gives every node the same classes, also those it has no record of"
            ));
        }
        advice.join("; ")
    }

    /// The classes of both as an option that declares them, where it can be written.
    fn all_classes(&self, theirs: &Self) -> Option<String> {
        let (ours, theirs) = (self.class_names.as_ref()?, theirs.class_names.as_ref()?);
        let all: BTreeSet<&str> = ours.shown.iter().chain(&theirs.shown).map(String::as_str).collect();
        let plain = |name: &str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter))
        };
        let writable = all.len() <= HINTED && all.iter().all(|name| plain(name));
        writable.then(|| all.into_iter().collect::<Vec<_>>().join("+"))
    }
}

/// As sets, all at once: one name more would shift all behind it.
fn different_names(kind: &str, ours: &Names, theirs: &Names) -> Vec<String> {
    if ours.digest == theirs.digest {
        return Vec::new();
    }
    let only = |left: &Names, right: &Names| {
        let known: BTreeSet<&String> = right.shown.iter().collect();
        let missing: Vec<String> = left
            .shown
            .iter()
            .filter(|name| !known.contains(name))
            .map(|name| format!("`{}`", clip(name)))
            .collect();
        let rest = missing.len().saturating_sub(LISTED);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        (!missing.is_empty())
            .then(|| format!("{}{more}", missing.into_iter().take(LISTED).collect::<Vec<_>>().join(", ")))
    };
    let plural = if kind == "class" { "classes".to_owned() } else { format!("{kind}s") };
    let mut found = Vec::new();
    found.extend(only(ours, theirs).map(|names| format!("{plural} that only we have: {names}")));
    found.extend(only(theirs, ours).map(|names| format!("{plural} that only they have: {names}")));
    if found.is_empty() {
        found.push(match ours.shown == theirs.shown {
            true => format!("names of the {plural} behind the first {}", ours.shown.len()),
            false => format!("the same {plural} in another order"),
        });
    }
    found
}

/// A peer's text is shown to a person: short, and without control characters.
fn clip(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Names {
        Names::new(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    fn schema(columns: &[&str], classes: &[&str]) -> Schema {
        Schema {
            features: columns.len() as u64,
            target: "classes".into(),
            classes: Some(classes.len() as u64),
            columns: Some(names(columns)),
            class_names: Some(names(classes)),
        }
    }

    #[test]
    fn names_are_compared_as_sets_and_the_hint_declares_all_classes() {
        let ours = schema(&["a", "b"], &["no", "yes"]);
        let theirs = schema(&["b", "a"], &["yes", "zz"]);
        assert_ne!(ours.digest(), theirs.digest());
        assert_eq!(
            ours.differences(&theirs),
            [
                "the same features in another order",
                "classes that only we have: `no`",
                "classes that only they have: `zz`",
            ]
        );
        assert!(ours.advice(&theirs).contains("`classes=no+yes+zz`"), "{}", ours.advice(&theirs));
        let wider = schema(&["a", "b", "c"], &["no", "yes"]);
        assert_eq!(
            ours.differences(&wider),
            ["features: ours 2, theirs 3", "features that only they have: `c`"]
        );
    }

    #[test]
    fn what_only_one_has_is_no_difference() {
        let ours = schema(&["a", "b"], &["no", "yes"]);
        let nameless = Schema { columns: None, class_names: None, ..ours.clone() };
        assert_ne!(ours.digest(), nameless.digest());
        assert!(ours.differences(&nameless).is_empty() && nameless.differences(&ours).is_empty());
        let more = Schema { classes: Some(3), ..nameless };
        assert_eq!(ours.differences(&more), ["number of classes: ours 2, theirs 3"]);
    }

    #[test]
    fn a_hundred_thousand_names_fit_into_a_frame_and_all_count() {
        let mut many: Vec<String> = (0..100_000).map(|at| format!("column {at}")).collect();
        let ours = Names::new(&many);
        assert!(ours.shown.len() < many.len() && ours.shown.len() > 1000);
        many[99_999].push('x');
        let found = different_names("feature", &ours, &Names::new(&many));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("behind the first"), "{found:?}");
    }
}
