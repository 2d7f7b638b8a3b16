//! One unit per host, each behind a line that names its file.

use super::{PORT, Plan};
use crate::failure::{Failure, Result};

pub(super) fn text(plan: &Plan<'_>) -> Result<String> {
    if plan.hosts.is_empty() {
        let text = format!("units for {} nodes need the names of their hosts", plan.nodes);
        return Err(Failure::new(text).hint("name one host per node in a file: `--hosts FILE`"));
    }
    let mut text = String::new();
    for (node, host) in plan.hosts.iter().enumerate() {
        let mut words: Vec<String> = plan.data_flags(&node.to_string());
        let others = plan.hosts.iter().filter(|other| *other != host).map(String::as_str);
        words.extend(plan.peer_flags(others));
        // In a unit a percent sign and a dollar sign must be doubled.
        let word = |word: &String| {
            format!(
                "\"{}\"",
                word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$")
            )
        };
        let flags: Vec<String> = words.iter().map(word).collect();
        let name = &plan.name;
        text.push_str(&format!(
            "# {host}: /etc/systemd/system/murmur-{name}.service, and the swarm file in /etc/murmur/{name}.toml\n\
             [Unit]\nDescription=Murmuration node {node} of {nodes}\nWants=network-online.target\n\
             After=network-online.target\n\n[Service]\nDynamicUser=yes\nStateDirectory=murmur-{name}\n\
             LoadCredential=swarm:/etc/murmur/{name}.toml\nRestart=on-failure\nTimeoutStopSec=15\n\
             ExecStart=/usr/local/bin/murmur node --swarm ${{CREDENTIALS_DIRECTORY}}/swarm --state ${{STATE_DIRECTORY}} \
             --listen /ip4/0.0.0.0/tcp/{PORT} --log json {flags}\n\n[Install]\nWantedBy=multi-user.target\n\n",
            nodes = plan.nodes,
            flags = flags.join(" "),
        ));
    }
    Ok(text)
}
