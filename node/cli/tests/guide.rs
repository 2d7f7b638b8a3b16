//! From four messy files to predictions: every command of the guide is run, in its order, with the files of `examples/messy`.
//!
//! In `docs/GUIDE.md` the blocks marked `sh` are commands: `murmur …` must succeed, `murmur node … &` goes on in the background until `wait`. The test adds only
//! where the nodes listen and meet, which a LAN would tell them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the guide, joined where a line ends in a backslash.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/GUIDE.md")).unwrap().replace("\\\n", " ");
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match line.trim_end() {
            "```sh" => inside = true,
            line if line.starts_with("```") => inside = false,
            line if inside && !line.is_empty() && !line.starts_with('#') => found.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

fn murmur(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    let words = line.strip_prefix("murmur ").unwrap_or_else(|| panic!("no command of murmur: {line}"));
    command.args(words.split_whitespace()).current_dir(folder).env("MURMUR_LEDGER", folder.join("ledger"));
    command
}

/// Nodes that run, the first of which tells the others where it listens.
#[derive(Default)]
struct Nodes {
    running: Vec<(Child, String)>,
    first: Option<String>,
}

impl Nodes {
    fn start(&mut self, folder: &Path, line: &str) {
        let mut command = murmur(folder, line);
        command.args(["--no-mdns", "--listen", "/ip4/127.0.0.1/tcp/0", "--log", "json"]);
        if let Some(first) = &self.first {
            command.args(["--peer", first]);
        }
        let errors = folder.join(format!("{}.stderr", self.running.len()));
        command.stdout(Stdio::piped()).stderr(std::fs::File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.by_ref().find_map(|line| {
            let status: Value = serde_json::from_str(&line).ok()?;
            Some(status["addresses"][0].as_str()?.to_owned())
        });
        let said = || std::fs::read_to_string(&errors).unwrap_or_default();
        self.first.get_or_insert(address.unwrap_or_else(|| panic!("{line}: {}", said())));
        std::thread::spawn(move || lines.for_each(drop));
        self.running.push((child, errors.display().to_string()));
    }

    /// Waits for all; what each said.
    fn wait(&mut self) -> Vec<String> {
        let said = |(mut child, errors): (Child, String)| {
            let ended = child.wait().unwrap();
            let said = std::fs::read_to_string(errors).unwrap();
            assert!(ended.success(), "{said}");
            said
        };
        std::mem::take(&mut self.running).into_iter().map(said).collect()
    }
}

#[test]
fn the_guide_leads_from_four_messy_files_to_predictions() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root().join("examples/messy")).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let (mut nodes, mut said) = (Nodes::default(), Vec::new());
    let all = commands();
    for line in &all {
        if line == "wait" {
            said = nodes.wait();
        } else if let Some(line) = line.strip_suffix(" &") {
            nodes.start(folder.path(), line);
        } else {
            let output = murmur(folder.path(), line).output().unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert_eq!(said.len(), 4, "four nodes took part: {all:?}");
    for words in &said {
        assert!(words.contains("own records that were kept apart") && words.contains("base rate"), "{words}");
        assert!(words.contains("not covered by ε") && words.contains("Trained alone"), "{words}");
    }
    outcome(folder.path());
    fits_a_narrow_terminal(folder.path());
}

/// What a person reads on the way, in eighty columns. A path has no place to fold.
fn fits_a_narrow_terminal(folder: &Path) {
    for line in [
        "data south.csv:label=num,above=0,fill=0,drop=Bemerkung+patient+seen",
        "model show north/model.safetensors",
        "evaluate north/model.safetensors east.csv",
        "verify north/model.decision north/model.safetensors",
        "report north",
        "report north south",
        "ledger",
        "ledger check north",
        "node --swarm swarm.toml --data nothing.csv --state again --no-mdns",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(lines) = common::terminal::seen(&words, folder) else { return };
        assert!(lines.iter().any(|shown| shown.trim().len() > 10), "`murmur {line}` says nothing");
        for shown in &lines {
            let is_one_word = !shown.trim().contains(' ');
            let fits = shown.chars().count() <= common::terminal::WIDTH || is_one_word;
            assert!(fits, "`murmur {line}` writes: {shown}");
        }
    }
}

/// What must be there at the end.
fn outcome(folder: &Path) {
    // All hold the same model, with everything that is needed to use it.
    let model = |site: &str| std::fs::read(folder.join(site).join("model.safetensors")).unwrap();
    assert_eq!(model("north"), model("south"));
    let scored = std::fs::read_to_string(folder.join("scored.csv")).unwrap();
    let mut lines = scored.lines();
    let head = lines.next().unwrap();
    assert!(head.starts_with("patient,age,sex,"), "{head}");
    assert!(head.ends_with(",prediction,probability_at most 0,probability_above 0"), "{head}");
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let (no, yes): (f64, f64) =
            (cells[cells.len() - 2].parse().unwrap(), cells[cells.len() - 1].parse().unwrap());
        assert!((no + yes - 1.0).abs() < 1e-6, "{line}");
        assert_eq!(cells[cells.len() - 3], if yes > 0.5 { "above 0" } else { "at most 0" });
    }
    assert_eq!(scored.lines().count(), 9);
    // The file says what the members agreed to pay, not only where to look.
    let shown = murmur(folder, "murmur model show north/model.safetensors").output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("planned for one") && shown.contains("towards any one member"), "{shown}");
    // All have files of their own: no data set is named that nobody uses.
    let shared = std::fs::read_to_string(folder.join("swarm.toml")).unwrap();
    assert!(!shared.contains("\ndata = "), "{shared}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(folder.join("north/evaluation.json")).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "for its owner's eyes");
    }
    // What no ε covers stays out of the page that is given away, unless its owner asks for it.
    for (flags, is_there) in [("", false), (" --with-loss", true)] {
        let line = format!("murmur report north{flags} --format json");
        let report: Value = serde_json::from_slice(&murmur(folder, &line).output().unwrap().stdout).unwrap();
        let points = report["rounds"]["curve"]["points"].as_array().unwrap();
        assert_eq!(points.iter().any(|point| point["test_acc"].is_number()), is_there, "{line}");
    }
    let metrics = std::fs::read_to_string(folder.join("north/metrics.csv")).unwrap();
    assert!(
        metrics.starts_with("round,train_loss,test_loss,test_acc\n") && metrics.lines().count() >= 2,
        "{metrics}"
    );
    let verdict: Value =
        serde_json::from_slice(&std::fs::read(folder.join("north/evaluation.json")).unwrap()).unwrap();
    for key in ["records", "accuracy", "auc", "log_loss", "base_rate"] {
        assert!(verdict["together"][key].is_number(), "{verdict}");
    }
    // Patients of the north, kept apart: 0.55 of the records are the commonest class; chance is far from this.
    let output =
        murmur(folder, "murmur evaluate north/model.safetensors north.csv --format json").output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["auc"].as_f64().unwrap() > 0.75, "{found}");
    assert!(
        folder.join("model.onnx").is_file()
            && folder.join("model.json").is_file()
            && folder.join("model.py").is_file()
    );
}

/// UCI Adult over four sites in four dialects; what the documentation calls the test part goes to a file of its own. `false` where it is not here.
fn write_adult(folder: &Path) -> bool {
    let path = root().join("../shared/data/adult.csv.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: there is no {}", path.display());
        return false;
    };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let mut sites = vec![String::new(); 5];
    let site_line = |site: usize, cells: &[&str]| match site {
        1 => cells.join(";") + "\r\n",
        2 => cells.iter().rev().copied().collect::<Vec<_>>().join("\t") + "\n",
        3 => {
            cells.iter().map(|cell| if cell.is_empty() { "NA" } else { cell }).collect::<Vec<_>>().join("|")
                + "\n"
        }
        _ => cells.join(",") + "\n",
    };
    for (site, content) in sites.iter_mut().enumerate() {
        content.push_str(&site_line(site, &head[1..]));
    }
    for (at, cells) in lines.enumerate() {
        let site = if cells[0] == "test" { 4 } else { at % 4 };
        sites[site].push_str(&site_line(site, &cells[1..]));
    }
    for (site, content) in sites.iter().enumerate() {
        std::fs::write(folder.join(format!("site{site}.csv")), content).unwrap();
    }
    true
}

#[test]
fn adult_over_four_sites_is_learnt_well_at_epsilon_four_with_settings_by_rule() {
    let folder = tempfile::tempdir().unwrap();
    if !write_adult(folder.path()) {
        return;
    }
    std::fs::copy(root().join("examples/adult/schema.toml"), folder.path().join("schema.toml")).unwrap();
    // Nobody says a learning rate, a clip norm or a batch.
    let init = "murmur swarm init --nodes 4 --schema schema.toml --set model.kind=logistic --set privacy.epsilon=4 --set partition.min_size=6000 --out swarm.toml";
    let output = murmur(folder.path(), init).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut nodes = Nodes::default();
    for site in 0..4 {
        nodes.start(
            folder.path(),
            &format!("murmur node --swarm swarm.toml --data site{site}.csv --state s{site}"),
        );
    }
    let said = nodes.wait();
    assert!(
        said.iter().all(|words| words.contains("The model is better than always answering `0`")),
        "{}",
        said[0]
    );
    let output = murmur(folder.path(), "murmur evaluate s0/model.safetensors site4.csv --format json")
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{found}");
    // The base rate is 0.764. Noise is drawn anew in every run: simulated runs give 0.844 ± 0.001.
    assert!(found["accuracy"].as_f64().unwrap() >= 0.83, "{found}");
    assert_eq!(found["records"], 16281);
}

#[test]
fn every_problem_of_a_broken_file_is_in_one_list() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.csv"), "a,b,y\n1,x,0\n2,3\nz,inf,1\n,4,2\n").unwrap();
    let output = murmur(folder.path(), "murmur data bad.csv:label=y,classes=2").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in [
        "6 problems",
        "row 1, column `b`",
        "row 2 (line 3)",
        "row 3, column `a`",
        "row 3, column `b`",
        "row 4, column `a`",
        "label `2`",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
}

#[test]
fn a_row_of_another_length_hides_neither_how_the_others_are_written_nor_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "id;age;sex;sick\n1;54,5;f;yes\n2;;m;no\n3;abc;x;no\n4;61,0;m\n5;33,0;f;maybe\n";
    std::fs::write(folder.path().join("bad.csv"), text).unwrap();
    let source = "bad.csv:label=sick,classes=no+yes,id=id,categorical=sex[f|m]";
    let output = murmur(folder.path(), &format!("murmur data {source}")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in ["5 problems", "row 4 (line 5): 3 fields", "row 2, column `age`", "`abc`", "`x`", "`maybe`"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    // The label was named: nobody is told to name it.
    assert!(!said.contains("label=age"), "{said}");
}

#[test]
fn a_table_may_come_through_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let mut murmur = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    murmur.args(["data", "-:label=y"]).current_dir(folder.path()).write_stdin("a;y\n1,5;0\n2;1\n");
    let output = murmur.assert().success();
    let said = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(said.contains("records           2") && said.contains("1.5 to 2"), "{said}");
}
