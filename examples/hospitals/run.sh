#!/usr/bin/env bash
# Four hospitals on one machine, each a process of its own with its own file, its own state and its own report.
#   examples/hospitals/run.sh [FOLDER]     MURMUR names the program [default: murmur]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
murmur=${MURMUR:-murmur}
folder=${1:-hospitals-run}
mkdir -p "$folder"
columns="label=num,above=0,fill=0,scale=age@0..100+sex@0..1+cp@1..4+trestbps@0..200+chol@0..600+fbs@0..1+restecg@0..2+thalach@0..220+exang@0..1+oldpeak@-3..7+slope@0..3+ca@0..3+thal@0..7"

# One of them writes the swarm file and hands it to the others.
"$murmur" swarm init "$here/hospitals.toml" --set partition.min_size=120 --set test_fraction=0 \
    --set purpose="learn who has a heart disease" --out "$folder/hospitals.toml" 2>/dev/null

# Each starts the same command with its own records. On one machine they meet by address; on a LAN they would find each other.
declare -A names=([cleveland]=Cleveland [hungarian]=Budapest [switzerland]=Zürich [va]="Long Beach")
first=""
pids=()
for hospital in cleveland hungarian switzerland va; do
    state="$folder/$hospital"
    log="$folder/$hospital.out"
    "$murmur" node --swarm "$folder/hospitals.toml" --name "${names[$hospital]}" --state "$state" --no-mdns --listen /ip4/127.0.0.1/tcp/0 \
        --data "$here/$hospital.csv:$columns,id=hospital" --log json ${first:+--peer "$first"} >"$log" 2>"$folder/$hospital.err" &
    pids+=($!)
    # The first says where it listens; the others start there.
    while [ -z "$first" ]; do
        first=$(sed -n 's/.*"addresses":\["\([^"]*\)".*/\1/p' "$log" 2>/dev/null | head -1 || true)
        sleep 0.1
        kill -0 "${pids[0]}" 2>/dev/null || { cat "$folder/$hospital.err" >&2; exit 1; }
    done
done
for pid in "${pids[@]}"; do wait "$pid"; done

# Each reads what the others could have learnt about its patients.
for hospital in cleveland hungarian switzerland va; do
    "$murmur" report "$folder/$hospital" >"$folder/$hospital.txt"
    printf '%-12s ' "$hospital"
    head -1 "$folder/$hospital.txt"
done
