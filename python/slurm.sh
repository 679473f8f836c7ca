#!/bin/sh
# A Slurm of one node that Debian packages, in a folder of its own, and two campaigns on it: a job array of
# `analects job`, without Python, and dask-jobqueue's workers. Both make what one process makes. Needs root, for
# Slurm's daemons; nothing of them is left.
#
#   slurm.sh PYTHON ANALECTS      of an environment with analects[campaign], and the program
set -eu
python=$(realpath -s "$1")
analects=$(realpath "$2")
[ "$(id -u)" = 0 ] || { echo "slurm: root is needed, for Slurm's daemons" >&2; exit 1; }
cd "$(dirname "$0")/.."
sh scripts/apt.sh slurm-wlm munge
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-slurm.XXXXXX")
# The daemons drop their rights.
chmod 755 "$work"
daemons=
end() {
    for daemon in $daemons; do kill "$daemon" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM
fail() {
    echo "slurm: FAILED: $1" >&2
    tail -n 20 "$work"/*.log >&2 2>/dev/null || true
    exit 1
}

mkdir -m 700 "$work/munge"
mkdir -m 755 "$work/state" "$work/spool"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 status=none
chmod 400 "$work/munge/key"
mkdir -m 755 "$work/run"
host=$(hostname -s)
cat >"$work/slurm.conf" <<C
ClusterName=analects
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$work/run/munge
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
export SLURM_CONF="$work/slurm.conf"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/run/munge" --pid-file="$work/run/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge/seed" >"$work/munged.out.log" 2>&1 &
daemons="$daemons $!"
slurmctld -D >"$work/slurmctld.log" 2>&1 &
daemons="$daemons $!"
slurmd -D >"$work/slurmd.log" 2>&1 &
daemons="$daemons $!"
tries=0
until sinfo -h -o %T 2>/dev/null | grep -q '^idle'; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || fail "the node does not come up: $(sinfo 2>&1)"
    sleep 0.5
done
echo "slurm: a node of $(nproc) processors is up: $(sinfo --version)"

cat >"$work/plan.toml" <<'S'
name = "plan"
duration = "3s"
disciplines = ["pfifo", "cake"]
link = { rate = "5mbit", rtt = "20ms" }
traffic = [{ name = "page", kind = "bulk", size = "60kB" }]
S
campaign() {
    "$python" -m analects.campaign "$@"
}
same() {
    diff -r "$work/one/results" "$1/results" >"$work/diff.log" || fail "$2 made something else"
}

# One process, as a reference.
"$analects" jobs "$work/plan.toml" --store "$work/one" --repeat 6 --jobs 1 >"$work/one.log" 2>&1 || fail "one process"

"$analects" jobs "$work/plan.toml" --store "$work/array" --repeat 6 --list | cut -f 1 >"$work/keys"
count=$(wc -l <"$work/keys")
sbatch --wait --quiet --output="$work/array-%a.log" --array=1-"$count" --wrap \
    "'$analects' job \$(sed -n \${SLURM_ARRAY_TASK_ID}p '$work/keys') --store '$work/array'" || fail "the array"
same "$work/array" "the array"
echo "slurm: ok 1 - an array of $count makes what one process makes"

timeout 300 "$python" -m analects.campaign run "$work/plan.toml" --store "$work/dask" --seeds 6 --slurm 2 --interface lo \
    --memory 500MB >"$work/dask.log" 2>&1 || fail "dask-jobqueue"
same "$work/dask" "dask-jobqueue"
grep -q '12 made' "$work/dask.log" || fail "not all was made by it"
echo "slurm: ok 2 - dask-jobqueue's workers make what one process makes"
[ "$(campaign list "$work/plan.toml" --store "$work/dask" --seeds 6 --missing | wc -l)" = 0 ] || fail "something is missing"
