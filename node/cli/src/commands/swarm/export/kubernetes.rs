//! A secret with the swarm file, a service without an address of its own, and a stateful set.

use super::{PORT, Plan, quoted, quoted_list};

pub(super) fn text(plan: &Plan<'_>) -> String {
    let name = format!("murmur-{}", plan.name);
    let hosts: Vec<String> = (0..plan.nodes).map(|node| format!("{name}-{node}.{name}")).collect();
    let mut command: Vec<String> =
        ["node", "--swarm", "/run/murmur/swarm.toml", "--state", "/state", "--no-mdns", "--log", "json"]
            .map(str::to_owned)
            .to_vec();
    command.extend(["--listen".to_owned(), format!("/ip4/0.0.0.0/tcp/{PORT}")]);
    command.extend(plan.data_flags("$(POD_INDEX)"));
    command.extend(plan.peer_flags(hosts.iter().map(String::as_str)));
    let swarm: String = plan.text.lines().map(|line| format!("    {line}\n")).collect();
    let of_data = |line: &dyn Fn(String) -> String| {
        plan.mount.as_deref().map(|path| line(quoted(path))).unwrap_or_default()
    };
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  swarm.toml: |\n{swarm}---\n\
         apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  clusterIP: None\n  \
         publishNotReadyAddresses: true\n  selector: {{app: {name}}}\n  ports: [{{name: p2p, port: {PORT}}}]\n---\n\
         apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: {name}\nspec:\n  serviceName: {name}\n  \
         replicas: {nodes}\n  podManagementPolicy: Parallel\n  selector:\n    matchLabels: {{app: {name}}}\n  \
         template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n{affinity}      containers:\n        - name: node\n          \
         image: {image}\n          args: {args}\n          env:\n            - name: POD_INDEX\n              \
         valueFrom: {{fieldRef: {{fieldPath: \"metadata.labels['apps.kubernetes.io/pod-index']\"}}}}\n          \
         ports: [{{name: p2p, containerPort: {PORT}}}]\n          volumeMounts:\n            \
         - {{name: state, mountPath: /state}}\n            - {{name: swarm, mountPath: /run/murmur, readOnly: true}}\n{data_mount}      \
         volumes:\n        - name: swarm\n          secret: {{secretName: {name}, defaultMode: 256}}\n{data_volume}  \
         volumeClaimTemplates:\n    - metadata: {{name: state}}\n      spec:\n        accessModes: [ReadWriteOnce]\n        \
         resources: {{requests: {{storage: 1Gi}}}}\n",
        nodes = plan.nodes,
        affinity = affinity(plan, &name),
        data_mount =
            of_data(&|path| { format!("            - {{name: data, mountPath: {path}, readOnly: true}}\n") }),
        data_volume =
            of_data(&|path| format!("        - name: data\n          hostPath: {{path: {path}}}\n")),
        image = quoted(plan.image),
        args = quoted_list(&command),
    )
}

/// On the hosts that were named, one node on each.
fn affinity(plan: &Plan<'_>, name: &str) -> String {
    if plan.hosts.is_empty() {
        return String::new();
    }
    format!(
        "      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            \
         nodeSelectorTerms:\n              - matchExpressions:\n                  \
         - {{key: kubernetes.io/hostname, operator: In, values: {hosts}}}\n        \
         podAntiAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            \
         - topologyKey: kubernetes.io/hostname\n              labelSelector:\n                \
         matchLabels: {{app: {name}}}\n",
        hosts = quoted_list(&plan.hosts),
    )
}
