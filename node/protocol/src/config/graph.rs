//! The graph of a configuration: a topology with a size of its own, or one that gets the number of nodes.

use topology::{Embedded, Source, Spec, SpecError};

/// The topology for `nodes` nodes: `ring` and `regular,degree=6` get the size, `ring:64` and `karate` have their own.
///
/// # Errors
/// A spec that is none, or a family that this size does not fit.
pub(super) fn sized(text: &str, nodes: usize) -> Result<Spec, SpecError> {
    let text = text.trim();
    if has_size(text) {
        return text.parse();
    }
    let (name, rest) = text.split_at(text.find([',', ':']).unwrap_or(text.len()));
    let rest = rest.trim_start_matches([',', ':']);
    let size = match name.trim().to_ascii_lowercase().as_str() {
        "grid" | "torus" => {
            let rows = (1..=nodes.isqrt()).rev().find(|rows| nodes.is_multiple_of(*rows)).unwrap_or(1);
            format!("{rows}x{}", nodes / rows)
        }
        _ => nodes.to_string(),
    };
    let comma = if rest.is_empty() { "" } else { "," };
    format!("{name}:{size}{comma}{rest}").parse()
}

/// The number of nodes that a topology has by itself; `None` for one without a size, and for a file, which nobody has read yet.
///
/// # Errors
/// A spec that is none.
pub(super) fn own_nodes(text: &str) -> Result<Option<usize>, SpecError> {
    if !has_size(text.trim()) {
        return Ok(None);
    }
    let spec: Spec = text.parse()?;
    Ok(match spec.source() {
        Source::Family(family) => Some(family.nodes()),
        Source::Embedded(embedded) => Some(embedded.graph().nodes()),
        _ => None,
    })
}

/// Whether the text is a whole spec: a built-in name, a file, or `family:size`.
fn has_size(text: &str) -> bool {
    let name = text.to_ascii_lowercase().replace('_', "-");
    let built_in = Embedded::ALL.iter().any(|embedded| embedded.name() == name);
    let sized = |(name, rest): (&str, &str)| {
        !name.contains(',') && (name == "file" || !rest.split(',').next().unwrap_or("").contains('='))
    };
    built_in || text.split_once(':').is_some_and(sized)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topology_without_a_size_gets_the_number_of_nodes() {
        for (text, spec) in [
            ("ring", "ring:12"),
            ("regular,degree=4", "regular:12,degree=4"),
            ("regular:degree=4", "regular:12,degree=4"),
            ("torus", "torus:3x4"),
            ("hypercube:64", "hypercube:64"),
            ("karate", "karate"),
        ] {
            assert_eq!(sized(text, 12).unwrap().to_string(), spec, "{text}");
        }
        assert!(sized("rign", 12).is_err() && sized("hypercube", 12).is_err());
    }

    #[test]
    fn a_topology_tells_its_own_size_where_it_has_one() {
        assert_eq!(own_nodes("karate").unwrap(), Some(34));
        assert_eq!(own_nodes("torus:4x5").unwrap(), Some(20));
        assert_eq!(own_nodes("ring").unwrap(), None);
        assert_eq!(own_nodes("file:friends.txt").unwrap(), None);
        assert!(own_nodes("rign:12").is_err());
    }
}
