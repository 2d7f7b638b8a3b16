//! What `murmur swarm export` writes is what the engines take: judged by their own schemas and checkers, where those are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A swarm file with an awkward name, and hosts.
fn swarm() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--name", "Clinic Trial é.2", "--nodes", "3", "--out"]);
    command.arg(folder.path().join("swarm.toml")).assert().success();
    std::fs::write(folder.path().join("hosts"), "a.example.org\nb.example.org\n\n# spare\nc-3\n")
        .expect("a file");
    folder
}

/// Exports in a format, into a file with this name.
fn export(folder: &Path, format: &str, name: &str, more: &[&str]) -> PathBuf {
    let out = folder.join(name);
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "export", "--format", format, "--swarm"]).arg(folder.join("swarm.toml"));
    command.arg("--hosts").arg(folder.join("hosts")).arg("--out").arg(&out).args(more);
    command.assert().success();
    out
}

/// With the data of every node in a file whose name needs quotes everywhere, and without.
const DATA: [&[&str]; 2] = [&[], &["--data", "/srv/it's $HOME/100% \"x\".csv:label=y"]];

/// Runs a checker on a file; a line says so where it is not installed.
fn passes(tool: &str, words: &[&str], file: &Path) {
    match Command::new(tool).args(words).arg(file).output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let text = std::fs::read_to_string(file).unwrap_or_default();
            assert!(output.status.success(), "{tool}: {}\n{text}", String::from_utf8_lossy(&said));
        }
        Err(error) => eprintln!("skipped: no `{tool}` here ({error})"),
    }
}

#[test]
fn the_compose_file_keeps_to_the_compose_specification() {
    for more in DATA {
        let folder = swarm();
        let file = export(folder.path(), "compose", "compose.yaml", more);
        let text = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(text.contains("$$HOME"), !more.is_empty(), "a dollar sign stays one: {text}");
        passes("check-jsonschema", &["--builtin-schema", "vendor.compose-spec"], &file);
    }
}

/// Docker's own reader: a stack takes less than the specification allows.
#[test]
fn docker_reads_the_compose_file_as_a_stack() {
    for more in DATA {
        let folder = swarm();
        let file = export(folder.path(), "compose", "compose.yaml", more);
        passes("docker", &["stack", "config", "--compose-file"], &file);
    }
}

#[test]
fn the_kubernetes_objects_are_valid() {
    for more in DATA {
        let folder = swarm();
        let file = export(folder.path(), "kubernetes", "swarm.yaml", more);
        passes("kubernetes-validate", &["--strict"], &file);
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("a file").permissions());
        assert_eq!(mode & 0o077, 0, "the secret of the swarm is in it");
    }
}

#[test]
fn containers_are_shown_the_file_with_the_data_and_no_other() {
    let folder = swarm();
    let source = ["--data", "/srv/records.csv:label=y"];
    for (format, shown) in [
        ("compose", "\"/srv/records.csv:/srv/records.csv:ro\""),
        ("kubernetes", "\"path\": \"/srv/records.csv\""),
    ] {
        let text = |more: &[&str]| {
            std::fs::read_to_string(export(folder.path(), format, format, more)).expect("a file")
        };
        assert!(text(&source).contains(shown), "{}", text(&source));
        assert!(!text(&[]).contains("srv") && !text(&[]).contains("hostPath"), "{}", text(&[]));
        let mut relative = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        relative.args(["swarm", "export", "--format", format, "--data", "records.csv:label=y", "--swarm"]);
        relative.arg(folder.path().join("swarm.toml"));
        let said = relative.assert().code(2).get_output().stderr.clone();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains("a container does not see `records.csv`"), "{said}");
    }
}

#[test]
fn systemd_takes_every_unit() {
    for more in DATA {
        let folder = swarm();
        let units = export(folder.path(), "systemd", "units", more);
        // The checker wants the program to be there.
        let program = assert_cmd::cargo::cargo_bin!("murmur").display().to_string();
        for (host, peers) in
            [("a.example.org", ["b.example.org", "c-3"]), ("b.example.org", ["a.example.org", "c-3"])]
        {
            let text = std::fs::read_to_string(units.join(host).join("murmur-clinic-trial---2.service"))
                .expect("a unit");
            assert!(peers.iter().all(|peer| text.contains(&format!("/dns/{peer}/tcp/7000"))), "{text}");
            let file = folder.path().join(format!("murmur-{host}.service"));
            std::fs::write(&file, text.replace("/usr/local/bin/murmur ", &format!("{program} ")))
                .expect("a file");
            passes("systemd-analyze", &["verify", "--man=no"], &file);
            let exposure = exposure(&file);
            assert!(exposure.is_none_or(|exposure| exposure <= 2.0), "{exposure:?}");
        }
    }
}

/// The unit of the Debian package is as tight as the exported ones.
#[test]
fn the_packaged_unit_is_in_the_same_box() {
    let folder = swarm();
    let exported = export(folder.path(), "systemd", "units", &[]).join("c-3/murmur-clinic-trial---2.service");
    let exported = std::fs::read_to_string(exported).expect("a unit");
    let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/murmur@.service");
    let packaged = std::fs::read_to_string(packaged).expect("a unit");
    let box_of = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with("CapabilityBoundingSet="));
        lines.take_while(|line| !line.starts_with("[Install]")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(box_of(&packaged), box_of(&exported));
    let file = folder.path().join("murmur@x.service");
    let program = assert_cmd::cargo::cargo_bin!("murmur").display().to_string();
    std::fs::write(&file, packaged.replace("/usr/bin/murmur ", &format!("{program} "))).expect("a file");
    passes("systemd-analyze", &["verify", "--man=no"], &file);
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("deep/man");
    let murmur = || assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    murmur().args(["man", "--out"]).arg(&out).assert().success();
    for page in ["murmur.1", "murmur-node.1", "murmur-swarm-init.1", "murmur-privacy-pairwise.1"] {
        let text = std::fs::read_to_string(out.join(page)).expect(page);
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let said = murmur().args(["man", "--out"]).arg(folder.path().join("file")).assert().code(2);
    let said = String::from_utf8_lossy(&said.get_output().stderr).into_owned();
    assert!(said.contains("cannot write manual pages to"), "{said}");
}

/// How exposed systemd calls a unit, from 0 to 10; `None` where nobody can say.
fn exposure(file: &Path) -> Option<f64> {
    let output =
        Command::new("systemd-analyze").args(["security", "--offline=yes", "--no-pager"]).arg(file).output();
    let Ok(output) = output else {
        eprintln!("skipped: no `systemd-analyze` here");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let level = said.split("Overall exposure level for").nth(1).and_then(|rest| {
        rest.split_whitespace().find_map(|word| word.parse().ok().filter(|_| word.contains('.')))
    });
    assert!(level.is_some(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    level
}

#[test]
fn a_unit_is_shown_data_by_credential_and_larger_data_by_a_mount() {
    let folder = swarm();
    let unit = |source: &str| {
        let units = export(folder.path(), "systemd", "units", &["--data", source]);
        std::fs::read_to_string(units.join("c-3/murmur-clinic-trial---2.service")).expect("a unit")
    };
    let small = unit("/srv/records.csv:label=y");
    assert!(small.contains("\nLoadCredential=records.csv:/srv/records.csv\n"), "{small}");
    assert!(
        small.contains(
            " --data ${CREDENTIALS_DIRECTORY}/records.csv:label=y --data-name \"/srv/records.csv\""
        ),
        "{small}"
    );
    let large = folder.path().join("large.csv");
    std::fs::write(&large, vec![b'1'; 1 << 20]).expect("a file");
    let large = format!("{}", large.display());
    let text = unit(&format!("{large}:label=y"));
    assert!(
        text.contains(&format!("\nBindReadOnlyPaths=\"{large}\"\n"))
            && !text.contains("LoadCredential=large"),
        "{text}"
    );
}

#[test]
fn bash_can_read_the_slurm_script() {
    for more in DATA {
        let folder = swarm();
        let file = export(folder.path(), "slurm", "job.sh", more);
        passes("bash", &["-n"], &file);
    }
}

/// As far as one machine can play a cluster: `srun` and `scontrol` are stand-ins, and the node's words are what they should be.
#[test]
fn the_slurm_script_starts_each_node_with_its_own_words() {
    let folder = swarm();
    let file = export(folder.path(), "slurm", "job.sh", DATA[1]);
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let tool = |name: &str, text: &str| {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("it is ours");
    };
    tool("scontrol", "echo alpha; echo beta");
    tool("srun", "while [[ $1 == --* ]]; do shift; done; SLURM_NTASKS=2 SLURM_PROCID=1 exec \"$@\"");
    tool("murmur", "printf '%s\\n' \"$@\"");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .arg(file)
        .env("PATH", path)
        .env("SLURM_JOB_NODELIST", "x")
        .env("MURMUR_STATE", "/state")
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = said.lines().collect();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for expected in [DATA[1][1], "/state/1", "/ip4/0.0.0.0/tcp/7001", "/dns/beta/tcp/7000"] {
        assert!(words.contains(&expected), "no `{expected}` in {words:?}");
    }
}

/// What it says when it refuses these hosts.
fn refused(format: &str, hosts: &str) -> String {
    let folder = swarm();
    std::fs::write(folder.path().join("hosts"), hosts).expect("a file");
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "export", "--format", format, "--swarm"]).arg(folder.path().join("swarm.toml"));
    let output = command.arg("--hosts").arg(folder.path().join("hosts")).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{format}: {said}");
    said
}

#[test]
fn every_engine_uses_the_hosts_and_refuses_too_few_or_one_twice() {
    for (format, expected) in [
        ("compose", "constraints: [\"node.hostname == b.example.org\"]"),
        ("kubernetes", "\"kubernetes.io/hostname\""),
        ("slurm", "#SBATCH --nodelist=a.example.org,b.example.org,c-3\n"),
        ("systemd", "# b.example.org: "),
    ] {
        let folder = swarm();
        let mut file = export(folder.path(), format, "out", &[]);
        if format == "systemd" {
            file.push("b.example.org/murmur-clinic-trial---2.service");
        }
        let text = std::fs::read_to_string(file).expect("a file");
        assert!(text.contains(expected), "{format}: {text}");
        let few = refused(format, "a\nb\n");
        assert!(few.contains("2 hosts in") && few.contains("3 nodes") && few.contains("hint:"), "{few}");
        let twice = refused(format, "a\nb\na\n");
        assert!(twice.contains("host `a` stands twice") && twice.contains("hint:"), "{twice}");
    }
}
