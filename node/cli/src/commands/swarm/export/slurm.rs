//! A batch script: one task per node, which find each other by the names of the allocation.

use super::{Deployment, PORT, shell};

pub(super) fn text(plan: &Deployment<'_>) -> String {
    let nodes = plan.nodes;
    let data = match plan.data {
        Some(source) => format!("--data {}", shell(source)),
        None => format!("--shard \"$SLURM_PROCID/{nodes}\""),
    };
    let hosts = match plan.hosts.as_slice() {
        [] => String::new(),
        hosts => format!(
            "#SBATCH --nodes={nodes}\n#SBATCH --ntasks-per-node=1\n#SBATCH --nodelist={}\n",
            hosts.join(",")
        ),
    };
    format!(
        "#!/bin/bash\n#SBATCH --job-name=murmur-{name}\n#SBATCH --ntasks={nodes}\n#SBATCH --cpus-per-task=1\n{hosts}\
         # Several tasks may share a host: each takes a port of its own.\nset -euo pipefail\n\
         swarm={swarm}\nstate=${{MURMUR_STATE:-$PWD/murmur-{name}}}\nexport swarm state\n\
         srun --ntasks={nodes} --kill-on-bad-exit=0 bash -c '\n\
         peers=()\nfor host in $(scontrol show hostnames \"$SLURM_JOB_NODELIST\"); do\n  \
         for ((task = 0; task < SLURM_NTASKS; task++)); do\n    \
         peers+=(--peer \"/dns/$host/tcp/$(({PORT} + task))\")\n  done\ndone\n\
         exec murmur node --swarm \"$swarm\" --state \"$state/$SLURM_PROCID\" {data} \\\n  \
         --listen \"/ip4/0.0.0.0/tcp/$(({PORT} + SLURM_PROCID))\" --no-mdns --log json \"${{peers[@]}}\"\n'\n",
        name = plan.name,
        swarm = shell(&plan.swarm.display().to_string()),
        data = data.replace('\'', r"'\''"),
    )
}
