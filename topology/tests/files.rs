//! Reading and writing lists of edges: formats, names, and what is said about bad ones.

#![expect(clippy::unwrap_used, reason = "a test stops where its setting fails")]

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use topology::Hint;
use topology::files::{FileError, parse_edges, read_edges, write_dot, write_edges, write_json};
use topology::{Dropped, Graph, Spec, SpecError};

fn parse(text: &str) -> Result<(Graph, Dropped), FileError> {
    parse_edges(text.as_bytes(), "test.edges")
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    graph.iter_edges().collect()
}

fn labels(graph: &Graph) -> Vec<&str> {
    graph.labels().unwrap_or_default().iter().map(String::as_str).collect()
}

fn written(graph: &Graph, write: fn(&Graph, &mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(graph, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A file in a folder of its own, removed at the end.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn snap_lists_with_comments_loops_and_repetitions_become_simple_graphs() {
    let (graph, dropped) = parse("# SNAP\n% more\n0\t1\n1 0\n\n1,2\r\n2 2\n").unwrap();
    assert_eq!(edges(&graph), [(0, 1), (1, 2)]);
    assert_eq!(dropped, Dropped { self_loops: 1, duplicates: 1 });
    assert!(graph.labels().is_none(), "compact numbers stay what they are");
}

#[test]
fn a_first_line_with_one_number_states_the_nodes() {
    let (graph, _) = parse("# n\n5\n0 1\n3 1\n").unwrap();
    assert_eq!((graph.nodes(), edges(&graph)), (5, vec![(0, 1), (1, 3)]));
    assert_eq!(parse("1\n").unwrap().0.nodes(), 1);
}

#[test]
fn numbers_with_gaps_are_sorted_and_become_labels() {
    let (graph, _) = parse("700 12\n12 3\n").unwrap();
    assert_eq!(labels(&graph), ["3", "12", "700"]);
    assert_eq!(edges(&graph), [(0, 1), (1, 2)]);
    assert_eq!(labels(&parse("1 2\n2 3\n").unwrap().0), ["1", "2", "3"]);
    let far = parse("0 18446744073709551615\n").unwrap().0;
    assert_eq!(labels(&far), ["0", "18446744073709551615"]);
}

#[test]
fn names_become_labels_in_order_of_appearance() {
    let (graph, _) = parse("zoe adam\nadam,Jean Valjean\n7 zoe\n").unwrap();
    assert_eq!(labels(&graph), ["zoe", "adam", "Jean Valjean", "7"]);
    assert_eq!(edges(&graph), [(0, 1), (0, 3), (1, 2)]);
    let late = parse("0 1\n1 x\n").unwrap().0;
    assert_eq!(labels(&late), ["0", "1", "x"]);
}

#[test]
fn a_heading_above_numbers_is_skipped_but_above_names_it_is_an_edge() {
    assert_eq!(edges(&parse("source,target,weight\n0,1,0.5\n1,2,3\n").unwrap().0), [(0, 1), (1, 2)]);
    let (named, _) = parse("a b\n0 1\nb 0\n").unwrap();
    assert_eq!(labels(&named), ["a", "b", "0", "1"]);
    assert_eq!(edges(&named), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(labels(&parse("a b\n").unwrap().0), ["a", "b"]);
}

#[test]
fn matrix_market_sizes_are_not_an_edge() {
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
    let (graph, _) = parse(text).unwrap();
    assert_eq!((labels(&graph), graph.edges()), (vec!["1", "2", "3"], 2));
}

#[test]
fn a_bad_line_is_named_with_its_number_and_text() {
    for (text, line, part) in [
        ("0 1\n2\n", 2, "2"),
        ("0 1\n\n# c\nlonely\n", 4, "lonely"),
        ("0 1\nnot an edge\n", 2, "not an edge"),
        ("3\n0 1\n1 3\n", 3, "1 3"),
        ("3\n0 x\n", 2, "0 x"),
        ("0,\n", 1, "0,"),
        ("0\n", 1, "0"),
        ("999999999999\n0 1\n", 1, "999999999999"),
    ] {
        let error = parse(text).unwrap_err();
        let message = error.to_string();
        assert!(matches!(&error, FileError::Malformed { line: l, .. } if *l == line), "{text:?}: {message}");
        assert!(message.contains(&format!("line {line}")) && message.contains(part), "{text:?}: {message}");
        assert!(error.hint().is_some());
    }
    let binary = parse_edges(&b"0 1\n\xff\xfe\x00 2\n"[..], "test.edges").unwrap_err();
    assert!(binary.to_string().contains("line 2"), "{binary}");
}

#[test]
fn a_file_without_edges_is_refused() {
    for text in ["", "# nothing\n\n", "4\n"] {
        assert!(matches!(parse(text), Err(FileError::Empty { .. })), "{text:?}");
    }
}

#[test]
fn gzip_is_recognised_by_content() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"0 1\n1 2\n").unwrap();
    let file = TemporaryFile::new("plain-name.txt", &encoder.finish().unwrap());
    assert_eq!(edges(&read_edges(&file.0).unwrap().0), [(0, 1), (1, 2)]);
    let broken = TemporaryFile::new("broken.gz", &[0x1f, 0x8b, 8, 0, 1, 2, 3]);
    assert!(matches!(read_edges(&broken.0), Err(FileError::Read { .. })));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = "file:no/such/file.edges".parse::<Spec>().unwrap().build().unwrap_err();
    assert!(error.to_string().contains("no/such/file.edges"), "{error}");
    assert!(matches!(error, SpecError::File(FileError::Read { .. })));
}

#[test]
fn a_disconnected_file_names_its_components_and_the_largest_can_be_taken() {
    let file = TemporaryFile::new("parts.edges", b"0 1\n1 2\n3 4\n5 5\n");
    let spec: Spec = format!("file:{}", file.0.display()).parse().unwrap();
    let error = spec.build().unwrap_err();
    assert!(error.to_string().contains("3 components, of 3, 2, 1 nodes"), "{error}");
    assert!(error.hint().unwrap().contains("--largest-component"));
    let built = spec.build_largest_component().unwrap();
    assert_eq!((built.graph.nodes(), built.left_out, built.dropped.self_loops), (3, 3, 1));
    assert_eq!(labels(&built.graph), ["0", "1", "2"]);
}

#[test]
fn dot_and_json_quote_names() {
    let graph = Graph::from_edges(2, &[(0, 1)]).unwrap().0;
    let named = graph.clone().with_labels(vec!["say \"hi\"".into(), "back\\slash".into()]).unwrap();
    let dot = written(&named, write_dot);
    assert!(dot.contains(r#"0 [label="say \"hi\""];"#) && dot.contains("0 -- 1;"), "{dot}");
    let json = written(&named, write_json);
    assert!(
        json.contains(r#"{"id":0,"label":"say \"hi\""}"#) && json.contains(r#""label":"back\\slash""#),
        "{json}"
    );
    let plain = written(&graph, write_json);
    assert!(plain.contains(r#"{"source":0,"target":1}"#), "{plain}");
}

#[test]
fn names_with_spaces_survive_writing() {
    let (graph, _) = parse("Jean Valjean,Javert\nJavert,Cosette\n").unwrap();
    let text = written(&graph, write_edges);
    assert_eq!(parse(&text).unwrap().0, graph);
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(
        n in 2usize..60,
        pairs in proptest::collection::vec((0u32..60, 0u32..60), 1..200),
    ) {
        let pairs: Vec<_> = pairs.iter().map(|&(u, v)| (u % n as u32, v % n as u32)).collect();
        let graph = Graph::from_edges(n, &pairs).unwrap().0;
        prop_assume!(graph.edges() > 0);
        let text = written(&graph, write_edges);
        prop_assert_eq!(parse(&text).unwrap().0, graph);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_edges(&bytes[..], "noise");
    }

    #[test]
    fn arbitrary_lines_never_panic(text in "([0-9a-z ,;#%\"{}.]{0,12}\n){0,20}") {
        let _ = parse(&text);
    }
}

/// Nodes and edges of the graphs that lie beside the repository, from their own table.
#[test]
fn shared_graphs_have_the_sizes_of_their_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/graphs");
    let Ok(table) = std::fs::read_to_string(folder.join("graphs.csv")) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    for row in table.lines().skip(1).filter(|row| !row.starts_with("web-Stanford")) {
        let cells: Vec<&str> = row.split(',').collect();
        let [plain, edges] = ["txt.gz", "edges.gz"].map(|end| folder.join(format!("{}.{end}", cells[0])));
        let path = if edges.exists() { edges } else { plain };
        let (graph, dropped) = read_edges(&path).unwrap_or_else(|e| panic!("{row}: {e}"));
        assert_eq!(graph.edges().to_string(), cells[2], "{row}");
        let largest = graph.largest_component();
        assert_eq!(largest.nodes().to_string(), cells[4], "{row}");
        assert_eq!(largest.edges().to_string(), cells[5], "{row}");
        assert_eq!(dropped, Dropped::default(), "{row}");
    }
}
