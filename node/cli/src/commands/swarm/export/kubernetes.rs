//! A secret with the swarm file, a service that gives pods names, a claim for their states, and an indexed job: a run ends, and what has ended is not started
//! again.

use super::{Deployment, HTTP, PORT, USER, quoted};
use serde_json::{Value, json};

pub(super) fn text(plan: &Deployment<'_>) -> String {
    let name = format!("murmur-{}", plan.name);
    let claim = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            // A pod that comes back on another machine must find what it spent: each has a folder of its own in one volume.
            "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": format!("{}Gi", plan.nodes)}}},
        })
    };
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": name},
                 "ports": [{"name": "p2p", "port": PORT}, {"name": "http", "port": HTTP}]},
    });
    let swarm: String = plan.text.lines().map(|line| format!("    {line}\n")).collect();
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  token: {}\n  swarm.toml: |\n{swarm}",
        quoted(&plan.token)
    );
    // YAML contains JSON: nothing in a value can break out of it.
    let objects = [claim(&name), claim(&ledger(&name)), service, job(plan, &name)]
        .map(|object| format!("{object:#}\n"));
    format!("{secret}---\n{}", objects.join("---\n"))
}

/// The claim for what was spent: beside that of the states, so that who restores an old state is found out.
fn ledger(name: &str) -> String {
    format!("{name}-ledger")
}

/// Exit code 1 is a refusal (a budget that is spent, say): starting again changes nothing.
fn job(plan: &Deployment<'_>, name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed", "completions": plan.nodes, "parallelism": plan.nodes, "backoffLimit": 20 * plan.nodes,
            "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"containerName": "node", "operator": "In", "values": [1, 2]}}]},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": pod(plan, name),
            },
        },
    })
}

fn pod(plan: &Deployment<'_>, name: &str) -> Value {
    let mut volumes = vec![
        json!({"name": "state", "persistentVolumeClaim": {"claimName": name}}),
        json!({"name": "ledger", "persistentVolumeClaim": {"claimName": ledger(name)}}),
        json!({"name": "swarm", "secret": {"secretName": name, "defaultMode": 0o440, "items": [{"key": "swarm.toml", "path": "swarm.toml"}]}}),
    ];
    volumes.extend(plan.mount.iter().map(|path| json!({"name": "data", "hostPath": {"path": path}})));
    let mut spec = json!({
        // The name of a pod is that of the job and its index; the service makes it a host name.
        "subdomain": name, "restartPolicy": "Never", "automountServiceAccountToken": false,
        "securityContext": {"runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container(plan, name)],
        "volumes": volumes,
    });
    if !plan.hosts.is_empty() {
        spec["affinity"] = affinity(plan, name);
    }
    spec
}

fn container(plan: &Deployment<'_>, name: &str) -> Value {
    let hosts: Vec<String> = (0..plan.nodes).map(|node| format!("{name}-{node}.{name}")).collect();
    let words = "node --swarm /run/murmur/swarm.toml --state /state --no-mdns --log json";
    let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
    args.extend(["--listen".to_owned(), format!("/ip4/0.0.0.0/tcp/{PORT}")]);
    args.extend(["--http".to_owned(), format!("0.0.0.0:{HTTP}")]);
    args.extend(plan.data_flags("$(JOB_COMPLETION_INDEX)"));
    args.extend(plan.peer_flags(hosts.iter().map(String::as_str)));
    let mut mounts = vec![
        json!({"name": "state", "mountPath": "/state", "subPathExpr": "$(JOB_COMPLETION_INDEX)"}),
        json!({"name": "ledger", "mountPath": "/ledger", "subPathExpr": "$(JOB_COMPLETION_INDEX)"}),
        json!({"name": "swarm", "mountPath": "/run/murmur", "readOnly": true}),
    ];
    mounts.extend(plan.mount.iter().map(|path| json!({"name": "data", "mountPath": path, "readOnly": true})));
    let probe = json!({"path": "/healthz", "port": "http"});
    json!({
        "name": "node", "image": plan.image, "args": args,
        "env": [
            {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}},
            {"name": "MURMUR_HTTP_TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "token"}}},
            {"name": "MURMUR_LEDGER", "value": "/ledger"},
        ],
        "ports": [{"name": "p2p", "containerPort": PORT}, {"name": "http", "containerPort": HTTP}],
        "readinessProbe": {"httpGet": probe, "periodSeconds": 5},
        // `stuck` is 503; a node that waits for others is not.
        "livenessProbe": {"httpGet": probe, "periodSeconds": 30, "failureThreshold": 3},
        "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"memory": "2Gi"}},
        "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": mounts,
    })
}

/// On the hosts that were named, one node on each.
fn affinity(plan: &Deployment<'_>, name: &str) -> Value {
    json!({
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": plan.hosts}]}]}},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}}]},
    })
}
