//! Exported units, run for real: three hosts with a systemd each, in containers on a LAN of namespaces. Nothing of the machine's own systemd is touched.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::lan::net::Lan;

const HOSTS: [&str; 3] = ["alpha", "beta", "gamma"];
const UNIT: &str = "murmur-clinic.service";

/// Starts the unit, waits for its end, says how it was, and turns the container off.
const WATCH: &str = "[Unit]
Wants=murmur-clinic.service
After=murmur-clinic.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for second in $(seq 150); do case $(systemctl show -p ActiveState --value murmur-clinic) in inactive|failed) break;; esac; sleep 1; done; systemctl show -p Result,ExecMainStatus murmur-clinic > /said; systemctl status --no-pager -l murmur-clinic >> /said; systemctl --no-block poweroff'
";

/// Makes a swarm file and the units of its hosts in a folder.
fn make_units(folder: &Path) {
    let mut records = String::from("age,y\n");
    (0..200).for_each(|row| records += &format!("{},{}\n", row % 90, row % 2));
    std::fs::write(folder.join("records.csv"), records).expect("a file");
    std::fs::write(folder.join("hosts"), HOSTS.join("\n")).expect("a file");
    let murmur = |words: &[&str]| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
            .current_dir(folder)
            .args(words)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let settings = ["--set", "rounds=20", "--set", "batch_size=32"];
    let init = ["swarm", "init", "--name", "Clinic", "--nodes", "3", "--out", "swarm.toml"];
    murmur(&[&init[..], &settings[..]].concat());
    let export = ["swarm", "export", "--format", "systemd", "--swarm", "swarm.toml", "--hosts", "hosts"];
    murmur(&[&export[..], &["--data", "/srv/records.csv:label=y", "--out", "units"]].concat());
}

/// The root of a host: the programs of this machine, and what an operator puts there.
fn make_root(folder: &Path, host: &str) -> PathBuf {
    let root = folder.join(host);
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    for place in ["usr", "etc/murmur", "var/log", "run", "tmp", "proc", "sys", "dev", "root", "opt", "srv"] {
        std::fs::create_dir_all(root.join(place)).expect("a folder");
    }
    for place in ["bin", "sbin", "lib", "lib64"] {
        symlink(format!("usr/{place}"), root.join(place)).expect("a link");
    }
    for file in ["passwd", "group", "os-release"] {
        write(
            &format!("etc/{file}"),
            &std::fs::read_to_string(Path::new("/etc").join(file)).unwrap_or_default(),
        );
    }
    let names: Vec<String> =
        HOSTS.iter().enumerate().map(|(at, host)| format!("10.77.0.{} {host}\n", at + 1)).collect();
    write("etc/hosts", &names.concat());
    write("etc/nsswitch.conf", "passwd: files\nhosts: files\n");
    ["etc/machine-id", "etc/resolv.conf"].iter().for_each(|file| write(file, ""));
    // The unit wants the program in a place that is this machine's own here.
    let unit = std::fs::read_to_string(folder.join("units").join(host).join(UNIT)).expect("a unit");
    write(&format!("etc/systemd/system/{UNIT}"), &unit.replace("/usr/local/bin/murmur ", "/opt/murmur "));
    write("etc/systemd/system/watch.service", WATCH);
    std::fs::copy(assert_cmd::cargo::cargo_bin!("murmur"), root.join("opt/murmur")).expect("a copy");
    std::fs::copy(folder.join("swarm.toml"), root.join("etc/murmur/clinic.toml")).expect("a copy");
    std::fs::copy(folder.join("records.csv"), root.join("srv/records.csv")).expect("a copy");
    root
}

/// Boots a host; it turns itself off.
fn boot(root: &Path, space: &str) -> Child {
    Command::new("timeout")
        .args([
            "200",
            "systemd-nspawn",
            "--quiet",
            "--register=no",
            "--keep-unit",
            "--bind-ro=/usr",
            "--directory",
        ])
        .arg(root)
        .arg(format!("--network-namespace-path=/run/netns/{space}"))
        .args(["--boot", "systemd.unit=watch.service"])
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(root.with_extension("boot")).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("timeout is there")
}

#[test]
#[ignore = "boots three systemds"]
fn exported_units_run_under_systemd_in_their_box() {
    if Command::new("systemd-nspawn").arg("--version").output().is_err() {
        eprintln!("skipped: no `systemd-nspawn` here (package systemd-container)");
        return;
    }
    let Some(lan) = Lan::bridged(3) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    make_units(folder.path());
    let roots = HOSTS.map(|host| make_root(folder.path(), host));
    let hosts: Vec<Child> = roots.iter().enumerate().map(|(at, root)| boot(root, &lan.space(at))).collect();
    hosts.into_iter().for_each(|mut host| {
        host.wait().expect("it ends");
    });
    let model =
        |root: &PathBuf| std::fs::read(root.join("var/lib/private/murmur-clinic/model.safetensors")).ok();
    for root in &roots {
        let said = std::fs::read_to_string(root.join("said")).unwrap_or_default();
        let boot = std::fs::read_to_string(root.with_extension("boot")).unwrap_or_default();
        assert!(said.starts_with("Result=success\nExecMainStatus=0\n"), "{said}\n{boot}");
        assert!(model(root).is_some() && model(root) == model(&roots[0]), "all hold the same model: {said}");
        // What was spent is counted beside the state.
        assert!(root.join("var/lib/private/murmur-clinic-ledger/counts").is_dir(), "{said}");
    }
}
