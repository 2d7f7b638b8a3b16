//! From text to a [`Spec`]: one arm per family, which checks that size and keys fit together.

use std::path::PathBuf;
use std::str::FromStr;

use super::catalogue::Entry;
use super::error::SpecError;
use super::parameters::Parameters;
use super::suggest::nearest_family;
use super::{Source, Spec};
use crate::embedded::Embedded;
use crate::families::Family;
use crate::graph::{MAX_EDGES, MAX_NODES};

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let canonical = name.trim().to_ascii_lowercase().replace('_', "-");
        let Some(entry) = Entry::named(&canonical) else {
            return Err(unknown_family(name));
        };
        if entry.name == "file" {
            return from_path(rest.trim());
        }
        if let Some(embedded) = Embedded::ALL.into_iter().find(|e| e.name() == entry.name) {
            return from_embedded(embedded, rest.trim());
        }
        let parameters = Parameters::new(entry, rest)?;
        let family = family(&parameters)?;
        check_size(&family, text)?;
        check_fit(&family, &parameters)?;
        Ok(Self {
            source: Source::Family(family),
            seed: parameters.seed()?,
            must_connect: parameters.must_connect()?,
            head: format!("{}:{}", entry.name, parameters.size_text()),
            pairs: parameters.pairs().iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        })
    }
}

fn unknown_family(name: &str) -> SpecError {
    SpecError::UnknownFamily {
        name: name.to_owned(),
        nearest: nearest_family(name),
        looks_like_path: name.contains(['/', '.', '\\']),
    }
}

fn from_path(path: &str) -> Result<Spec, SpecError> {
    if path.is_empty() {
        return Err(SpecError::MissingSize { family: "file" });
    }
    Ok(fixed(Source::File(PathBuf::from(path)), format!("file:{path}")))
}

fn from_embedded(embedded: Embedded, rest: &str) -> Result<Spec, SpecError> {
    if !rest.is_empty() {
        let why = "a built-in graph takes neither a size nor keys".to_owned();
        return Err(SpecError::BadSize { family: embedded.name(), size: rest.to_owned(), why });
    }
    Ok(fixed(Source::Embedded(embedded), embedded.name().to_owned()))
}

fn fixed(source: Source, head: String) -> Spec {
    Spec { source, seed: 0, must_connect: true, head, pairs: Vec::new() }
}

/// Reads size and keys; whether they fit together is checked afterwards.
fn family(p: &Parameters<'_>) -> Result<Family, SpecError> {
    if let "grid" | "torus" = p.family() {
        let (rows, columns) = p.rows_and_columns()?;
        let is_grid = p.family() == "grid";
        return Ok(if is_grid { Family::Grid { rows, columns } } else { Family::Torus { rows, columns } });
    }
    let nodes = p.nodes()?;
    Ok(match p.family() {
        "ring" => Family::Ring { nodes },
        "path" => Family::Path { nodes },
        "complete" => Family::Complete { nodes },
        "star" => Family::Star { nodes },
        "hypercube" => Family::Hypercube { nodes },
        "tree" => Family::Tree { nodes, branch: p.optional_count("branch")?.unwrap_or(2) },
        "exponential" => Family::Exponential { nodes },
        "regular" => Family::Regular { nodes, degree: p.count("degree")? },
        "erdos-renyi" => Family::ErdosRenyi { nodes, p: pair_probability(p, nodes)? },
        "watts-strogatz" => Family::WattsStrogatz { nodes, k: p.count("k")?, beta: p.probability("beta")? },
        "barabasi-albert" => Family::BarabasiAlbert { nodes, m: p.count("m")? },
        "geometric" => {
            let radius = p.optional_number("radius")?;
            let missing = SpecError::MissingKey { family: p.family(), key: "radius" };
            Family::Geometric { nodes, radius: radius.ok_or(missing)? }
        }
        "sbm" => Family::Sbm {
            nodes,
            blocks: p.count("blocks")?,
            p_in: p.probability("p_in")?,
            p_out: p.probability("p_out")?,
        },
        "cliques" => Family::Cliques { nodes, clique: p.optional_count("clique")?.unwrap_or(5) },
        "k-out" => Family::KOut { nodes, k: p.count("k")? },
        "harary" => Family::Harary { nodes, k: p.count("k")? },
        other => return Err(unknown_family(other)),
    })
}

/// `p`, or `mean_degree` / (n − 1).
fn pair_probability(p: &Parameters<'_>, nodes: usize) -> Result<f64, SpecError> {
    let family = p.family();
    match (p.optional_probability("p")?, p.optional_number("mean_degree")?) {
        (Some(_), Some(_)) => Err(SpecError::ConflictingKeys {
            family,
            why: "`p` and `mean_degree` say the same thing; give one".to_owned(),
        }),
        (Some(probability), None) => Ok(probability),
        (None, Some(degree)) => {
            let most = nodes.saturating_sub(1) as f64;
            if !(0.0..=most).contains(&degree) {
                return Err(p.bad_value("mean_degree", format!("it lies between 0 and n − 1 = {most}")));
            }
            Ok(if most == 0.0 { 0.0 } else { degree / most })
        }
        (None, None) => Err(SpecError::MissingKey { family, key: "p or mean_degree" }),
    }
}

fn check_size(family: &Family, text: &str) -> Result<(), SpecError> {
    let (nodes, edges) = (family.nodes(), family.expected_edges());
    if nodes > MAX_NODES || edges > MAX_EDGES as f64 {
        return Err(SpecError::TooLarge { spec: text.to_owned(), nodes, edges });
    }
    Ok(())
}

/// Refuses a size or key that does not fit the family.
fn check_fit(family: &Family, p: &Parameters<'_>) -> Result<(), SpecError> {
    let at_least = |least: usize| {
        let plural = if least == 1 { "" } else { "s" };
        let why = format!("at least {least} node{plural} needed");
        if family.nodes() < least { Err(p.bad_size(why)) } else { Ok(()) }
    };
    at_least(1)?;
    match *family {
        Family::Ring { .. } => at_least(3),
        Family::Star { .. } | Family::Exponential { .. } => at_least(2),
        Family::Torus { rows, columns } if rows.min(columns) < 3 => {
            Err(p.bad_size("a torus has at least 3 rows and 3 columns"))
        }
        Family::Hypercube { nodes } => check_power_of_two(nodes, p),
        Family::Tree { branch, .. } => in_range(p, "branch", branch, 1..=MAX_NODES),
        Family::Regular { nodes, degree } => check_regular(nodes, degree, p),
        Family::WattsStrogatz { nodes, k, .. } => {
            at_least(3)?;
            if k % 2 == 1 {
                return Err(p.bad_value("k", "half of the neighbours stand on each side, so k is even"));
            }
            in_range(p, "k", k, 2..=nodes - 1)
        }
        Family::BarabasiAlbert { nodes, m } => {
            at_least(2)?;
            in_range(p, "m", m, 1..=nodes - 1)
        }
        Family::Geometric { radius, .. } if !(radius > 0.0 && radius <= 1.415) => {
            Err(p.bad_value("radius", "in the unit square a distance lies above 0 and up to 1.415"))
        }
        Family::Sbm { nodes, blocks, .. } => in_range(p, "blocks", blocks, 1..=nodes),
        Family::Cliques { nodes, clique } => in_range(p, "clique", clique, 1..=nodes.max(5)).and_then(|()| {
            let small_ring = clique == 1 && nodes < 3;
            if small_ring { Err(p.bad_size("cliques of one node form a ring of at least 3")) } else { Ok(()) }
        }),
        Family::KOut { nodes, k } => {
            at_least(2)?;
            in_range(p, "k", k, 1..=nodes - 1)
        }
        Family::Harary { nodes, k } => {
            at_least(3)?;
            in_range(p, "k", k, 2..=nodes - 1)
        }
        _ => Ok(()),
    }
}

fn in_range(
    p: &Parameters<'_>,
    key: &'static str,
    value: usize,
    range: std::ops::RangeInclusive<usize>,
) -> Result<(), SpecError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(p.bad_value(key, format!("with this size it lies between {} and {}", range.start(), range.end())))
}

fn check_power_of_two(nodes: usize, p: &Parameters<'_>) -> Result<(), SpecError> {
    if nodes.is_power_of_two() && nodes > 1 {
        return Ok(());
    }
    let above = nodes.next_power_of_two().max(2);
    let nearest = if above > 2 { format!("{} or {above}", above / 2) } else { above.to_string() };
    Err(p.bad_size(format!("the number of nodes is a power of two, such as {nearest}")))
}

fn check_regular(nodes: usize, degree: usize, p: &Parameters<'_>) -> Result<(), SpecError> {
    if nodes < 2 {
        return Err(p.bad_size("at least 2 nodes needed"));
    }
    in_range(p, "degree", degree, 1..=nodes - 1)?;
    if nodes % 2 == 1 && degree % 2 == 1 {
        let why = format!("{nodes} nodes × degree {degree} is odd, but every edge has two ends");
        return Err(p.bad_value("degree", why));
    }
    if degree == 1 && nodes > 2 && p.must_connect()? {
        return Err(p.bad_value("degree", "with degree 1 more than two nodes are never connected"));
    }
    Ok(())
}
