//! A compose file: one service per node, its state in a volume of its own.

use super::{Deployment, PORT, USER, quoted, quoted_list};

/// What a budget or a member refuses is refused again: engines cannot tell it from a crash, so they do not try for ever.
const RESTARTS: u32 = 20;

pub(super) fn text(plan: &Deployment<'_>) -> String {
    let names: Vec<String> = (0..plan.nodes).map(|node| format!("node{node}")).collect();
    let mut text = format!(
        "# The nodes run as user {USER}, who must be able to read the swarm file: `setfacl -m u:{USER}:r FILE`, say.\n"
    );
    if !plan.hosts.is_empty() {
        text.push_str(
            "# `docker stack deploy` puts each node on its host; `docker compose` runs all on this one.\n",
        );
    }
    // A stack is given its name on the command line, and takes none in the file.
    if plan.hosts.is_empty() {
        text.push_str(&format!("name: {}\n", quoted(&format!("murmur-{}", plan.name))));
    }
    text.push_str("services:\n");
    for (node, name) in names.iter().enumerate() {
        let mut command: Vec<String> =
            ["node", "--swarm", "/run/secrets/swarm", "--state", "/state", "--no-mdns", "--log", "json"]
                .map(str::to_owned)
                .to_vec();
        command.extend(["--listen".to_owned(), format!("/ip4/0.0.0.0/tcp/{PORT}")]);
        command.extend(plan.data_flags(&node.to_string()));
        command.extend(plan.peer_flags(names.iter().filter(|other| *other != name).map(String::as_str)));
        let mut volumes = vec![format!("{name}:/state"), format!("{name}-ledger:/ledger")];
        volumes.extend(plan.mount.iter().map(|path| format!("{path}:{path}:ro")));
        text.push_str(&format!(
            "  {name}:\n    image: {}\n    command: {}\n    secrets: [swarm]\n    volumes: {}\n    \
             user: \"{USER}:{USER}\"\n    read_only: true\n    cap_drop: [ALL]\n    security_opt: [\"no-new-privileges:true\"]\n    \
             restart: \"on-failure:{RESTARTS}\"\n    stop_grace_period: 15s\n",
            quoted(plan.image),
            // Compose would put its own variables where a dollar sign is.
            quoted_list(&command).replace('$', "$$"),
            quoted_list(&volumes).replace('$', "$$"),
        ));
        if let Some(host) = plan.hosts.get(node) {
            let constraint = quoted(&format!("node.hostname == {host}"));
            text.push_str(&format!("    deploy:\n      placement:\n        constraints: [{constraint}]\n"));
            // Else a stack starts again what has ended well.
            let policy = "condition: on-failure\n        delay: 5s\n        max_attempts";
            text.push_str(&format!("      restart_policy:\n        {policy}: {RESTARTS}\n"));
        }
    }
    text.push_str("volumes:\n");
    names.iter().for_each(|name| text.push_str(&format!("  {name}: {{}}\n  {name}-ledger: {{}}\n")));
    let file = quoted(&plan.swarm.display().to_string());
    text.push_str(&format!("secrets:\n  swarm:\n    file: {file}\n"));
    text
}
