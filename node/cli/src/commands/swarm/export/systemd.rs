//! One unit per host, in a box as tight as a node can work in (`systemd-analyze security`: below 2).

use super::{Deployment, PORT};
use crate::failure::{Failure, Result};
use std::path::Path;

/// What a node needs nothing of.
const BOX: &str = "\
CapabilityBoundingSet=
LockPersonality=yes
MemoryDenyWriteExecute=yes
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
UMask=0077
";

/// Credentials of a unit hold this much together; a margin is left for the swarm file.
const CREDENTIAL: u64 = 900_000;

/// The file of a host, and what is in it.
pub(super) fn units(plan: &Deployment<'_>) -> Result<Vec<(String, String)>> {
    if plan.hosts.is_empty() {
        let text = format!("units for {} nodes need the names of their hosts", plan.nodes);
        return Err(Failure::new(text).hint("name one host per node in a file: `--hosts FILE`"));
    }
    let unit = |(node, host): (usize, &String)| {
        (format!("{host}/murmur-{}.service", plan.name), unit(plan, node, host))
    };
    Ok(plan.hosts.iter().enumerate().map(unit).collect())
}

fn unit(plan: &Deployment<'_>, node: usize, host: &str) -> String {
    let name = &plan.name;
    let (shown, data) = match plan.data.and_then(file_of) {
        None => (String::new(), plan.data_flags(&node.to_string()).iter().map(|word| quoted(word)).collect()),
        Some((path, rest)) => shown(path, rest),
    };
    let others = plan.hosts.iter().filter(|other| *other != host).map(String::as_str);
    let mut flags: Vec<String> = data;
    flags.extend(plan.peer_flags(others).iter().map(|word| quoted(word)));
    format!(
        "# {host}: /etc/systemd/system/murmur-{name}.service, and the swarm file in /etc/murmur/{name}.toml\n\
         [Unit]\nDescription=Murmuration node {node} of {nodes}\nWants=network-online.target\n\
         After=network-online.target\n\n[Service]\nDynamicUser=yes\nStateDirectory=murmur-{name} murmur-{name}-ledger\nStateDirectoryMode=0700\n\
         LoadCredential=swarm:/etc/murmur/{name}.toml\n{shown}\
         # Beside the state, not in it: who restores an old state is found out.\nEnvironment=MURMUR_LEDGER=%S/murmur-{name}-ledger\n\
         ExecStart=/usr/local/bin/murmur node --swarm ${{CREDENTIALS_DIRECTORY}}/swarm --state %S/murmur-{name} \
         --listen /ip4/0.0.0.0/tcp/{PORT} --log json {flags}\n\
         # A stop is no failure, and what a budget or a member refused once it refuses again.\n\
         SuccessExitStatus=130 143\nRestartPreventExitStatus=1 2\nRestart=on-failure\nRestartSec=5\nTimeoutStopSec=15\n\n\
         {BOX}\n[Install]\nWantedBy=multi-user.target\n",
        nodes = plan.nodes,
        flags = flags.join(" "),
    )
}

/// The file of a source that is one, and what is said about it.
fn file_of(source: &str) -> Option<(&str, &str)> {
    let (path, rest) = source.split_once(':').map_or((source, ""), |(path, _)| (path, &source[path.len()..]));
    path.starts_with('/').then_some((path, rest))
}

/// How the node is shown a file that only others may read, and the flags that name it.
fn shown(path: &str, rest: &str) -> (String, Vec<String>) {
    let large = std::fs::metadata(path).is_ok_and(|file| file.len() > CREDENTIAL || file.is_dir());
    let name = Path::new(path).file_name().map_or_else(|| "data".into(), |name| name.to_string_lossy());
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    let as_it_is = || vec!["--data".into(), quoted(&format!("{path}{rest}"))];
    if large || !plain {
        let how = format!(
            "# More than a credential holds: the file must be readable for the group.\nSupplementaryGroups=murmur-data\nBindReadOnlyPaths={}\n",
            quoted(path)
        );
        return (how, as_it_is());
    }
    let how = format!(
        "# Credentials hold a mebibyte; a larger file: `BindReadOnlyPaths=` and a group that may read it.\nLoadCredential={name}:{}\n",
        path.replace('%', "%%")
    );
    // The ledger of the data set goes by the file's own place, not by that of the credential.
    let flags = ["--data".into(), format!("${{CREDENTIALS_DIRECTORY}}/{name}{}", escaped(rest))];
    let account = ["--data-name".into(), quoted(path)];
    (how, flags.into_iter().chain(account).collect())
}

fn quoted(word: &str) -> String {
    format!("\"{}\"", escaped(word))
}

/// In a unit a percent sign and a dollar sign must be doubled.
fn escaped(word: &str) -> String {
    word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$")
}
