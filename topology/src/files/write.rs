//! Writes graphs: lists of edges, DOT, node-link JSON. All stream to any [`Write`]; hand in a buffered one.

use std::io::{Result, Write};

use crate::graph::Graph;

/// Writes a list of edges that [`super::read_edges`] reads back: the number of nodes, then a line `u v` for each
/// edge. A graph with labels gets a comment and lines of names instead, separated by commas if a name contains
/// white space; characters that would break the line become `_`.
///
/// # Errors
/// Those of `out`.
pub fn write_edges(graph: &Graph, out: &mut impl Write) -> Result<()> {
    let Some(labels) = graph.labels() else {
        writeln!(out, "{}", graph.nodes())?;
        return graph.iter_edges().try_for_each(|(u, v)| writeln!(out, "{u} {v}"));
    };
    writeln!(out, "# {} nodes, {} edges", graph.nodes(), graph.edges())?;
    let names: Vec<String> = labels.iter().map(|label| plain_name(label)).collect();
    let separator = if names.iter().any(|name| name.contains(char::is_whitespace)) { ',' } else { ' ' };
    let name = |node: u32| &names[node as usize];
    graph.iter_edges().try_for_each(|(u, v)| writeln!(out, "{}{separator}{}", name(u), name(v)))
}

/// Writes Graphviz's DOT; nodes are named by position and labelled by name.
///
/// # Errors
/// Those of `out`.
pub fn write_dot(graph: &Graph, out: &mut impl Write) -> Result<()> {
    writeln!(out, "graph {{")?;
    writeln!(out, "  node [shape=circle];")?;
    for node in 0..graph.nodes() {
        match graph.labels() {
            Some(labels) => writeln!(out, "  {node} [label={}];", quoted_for_dot(&labels[node]))?,
            None => writeln!(out, "  {node};")?,
        }
    }
    graph.iter_edges().try_for_each(|(u, v)| writeln!(out, "  {u} -- {v};"))?;
    writeln!(out, "}}")
}

/// Writes node-link JSON, which d3 and `networkx.node_link_graph(data, edges="edges")` read.
///
/// # Errors
/// Those of `out`.
pub fn write_json(graph: &Graph, out: &mut impl Write) -> Result<()> {
    write!(out, "{{\"directed\":false,\"multigraph\":false,\"graph\":{{}},\"nodes\":[")?;
    for node in 0..graph.nodes() {
        let comma = if node == 0 { "" } else { "," };
        match graph.labels() {
            Some(labels) => {
                write!(out, "{comma}\n{{\"id\":{node},\"label\":{}}}", quoted_for_json(&labels[node]))?;
            }
            None => write!(out, "{comma}\n{{\"id\":{node}}}")?,
        }
    }
    write!(out, "],\n\"edges\":[")?;
    for (at, (u, v)) in graph.iter_edges().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}\n{{\"source\":{u},\"target\":{v}}}")?;
    }
    writeln!(out, "]}}")
}

fn plain_name(label: &str) -> String {
    let breaks_line = |c: char| matches!(c, ',' | ';' | '"') || (c.is_control() && c != '\t');
    let name = label.replace(breaks_line, "_");
    if name.starts_with(['#', '%']) || name.is_empty() { format!("_{name}") } else { name }
}

fn quoted_for_dot(label: &str) -> String {
    format!("\"{}\"", label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn quoted_for_json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
