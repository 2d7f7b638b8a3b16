//! `docs/CONFIG.md`, made from the table.

use super::keys::{Key, Whose, keys};

const HEAD: &str = "\
# Configuration

The keys of `murmur sim`, `murmur swarm` and of a swarm file. In a file they stand in sections (`[privacy]`, then `epsilon = 2`), on the command line they are
dotted: `--set privacy.epsilon=2`. `murmur sim --dump-config` prints the effective values of all of them.

Times are `\"250ms\"`, `\"1.5s\"` or a number of seconds. A section with a `kind` has the keys of that kind only. Values are the same at all participants, but for
those marked as each participant's own, and those that only simulations have, such as `faults`.

This page is made from the table in `node/protocol/src/config/table`; a test fails where it is stale, and says how to make it again.
";

/// The page.
pub fn page() -> String {
    let mut text = String::from(HEAD);
    let mut current = None;
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for key in keys() {
        if current != Some(key.section()) {
            current = Some(key.section());
            let title = key.section().map_or_else(|| "General".into(), |section| format!("`[{section}]`"));
            text.push_str(&format!(
                "\n## {title}\n\n| key | meaning | values | default |\n|---|---|---|---|\n"
            ));
        }
        text.push_str(&row(key));
        if !key.source.is_empty() {
            match notes.iter_mut().find(|(source, _)| *source == key.source) {
                Some((_, names)) => names.push(key.name),
                None => notes.push((key.source, vec![key.name])),
            }
        }
    }
    text.push_str("\n## Where defaults come from\n\n");
    for (source, names) in notes {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("- {}: {source}.\n", names.join(", ")));
    }
    text
}

fn row(key: &Key) -> String {
    let name = key.name.rsplit('.').next().unwrap_or(key.name);
    let default = key.default().map_or_else(|| "–".into(), |value| format!("`{value}`"));
    let whose = if key.whose == Whose::Own { " (each participant's own)" } else { "" };
    let cell = |text: &str| text.replace('|', "\\|");
    format!("| `{name}` | {}{whose} | {} | {} |\n", cell(key.meaning), cell(&key.takes()), cell(&default))
}
