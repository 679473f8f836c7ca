#!/bin/sh
# A campaign on what two machines would be: network namespaces with a cable between them and a folder in common. The
# scheduler and two workers are on one, two workers and the client on the other. What comes has to be what one process
# makes, to the byte. In namespaces of its own; no root is needed.
#
#   namespaces.sh PYTHON ANALECTS      of an environment with analects[campaign], and the program
set -eu
if [ "${1:-}" != --inside ]; then
    python=$(realpath -s "$1")
    analects=$(realpath "$2")
    unshare -Urn true 2>/dev/null || { echo "namespaces: SKIPPED, nothing was tested: unshare -Urn fails" >&2; exit 0; }
    exec unshare -Urn sh "$0" --inside "$python" "$analects"
fi
python=$2 analects=$3
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-namespaces.XXXXXX")
processes=
end() {
    for process in $processes; do kill -9 "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM
fail() {
    echo "namespaces: FAILED: $1" >&2
    tail -n 8 "$work"/*.log >&2 2>/dev/null || true
    exit 1
}

unshare -n sleep 600 &
other=$!
processes=$other
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
ip link set lo up
ip link add cable type veth peer name cable netns $other
ip address add 192.0.2.1/24 dev cable
ip link set cable up
nsenter -t $other -n sh -c 'ip link set lo up && ip address add 192.0.2.2/24 dev cable && ip link set cable up'

dask() {
    log=$1 command=$2
    shift 2
    # In place of the background's shell: its number is the program's then.
    exec "$python" -m distributed.cli."$command" "$@" >"$work/$log.log" 2>&1
}
dask scheduler dask_scheduler --host 192.0.2.1 --port 8786 --no-dashboard &
processes="$processes $!"
for worker in 1 2; do
    dask near-$worker dask_worker tcp://192.0.2.1:8786 --host 192.0.2.1 --nthreads 1 --no-dashboard --no-nanny &
    processes="$processes $!"
    nsenter -t $other -n "$python" -m distributed.cli.dask_worker tcp://192.0.2.1:8786 --host 192.0.2.2 --nthreads 1 \
        --no-dashboard --no-nanny >"$work/far-$worker.log" 2>&1 &
    processes="$processes $!"
done

cat >"$work/plan.toml" <<'S'
name = "plan"
duration = "20s"
disciplines = ["fq_codel", "mencius"]
link = { rate = "5mbit", rtt = "20ms" }
traffic = [{ name = "call", kind = "call" }, { name = "page", kind = "bulk", start = "5s", count = 3, size = "60kB" }]
S
"$analects" jobs "$work/plan.toml" --store "$work/one" --repeat 50 --jobs 1 >"$work/one.log" 2>&1 || fail "one process"
nsenter -t $other -n timeout 300 "$python" -m analects.campaign run "$work/plan.toml" --store "$work/many" --seeds 50 \
    --scheduler tcp://192.0.2.1:8786 >"$work/run.log" 2>&1 || fail "the campaign"
grep -q '100 made' "$work/run.log" || fail "not all was made by it"
diff -r "$work/one/results" "$work/many/results" >"$work/diff.log" || fail "the results are not the same"
for process in $processes; do kill "$process" 2>/dev/null || fail "$process has ended by itself"; done
echo "namespaces: ok - four workers on two machines make what one process makes, 100 jobs"
