#!/bin/sh
# In a guest: `analects run --engine host`, for which the guest is the host. It tells
# why it cannot run, runs where it can, and leaves nothing, however it ends.
#   sh analects-real.sh SCH_CONFUCIUS.ko ANALECTS
# q_confucius.so is in tc's library folder, or where TC_LIB_DIR says. ANALECTS is static.
set -eu
module=$1 analects=$2
tracing=/sys/kernel/tracing
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "analects-real: FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    exit 1
}
# In the background, where $! has to be the program and not a shell around it.
start() {
    command=$1
    shift
    exec "$analects" "$command" "$work/s.toml" --engine host "$@" >"$work/out" 2>"$work/err"
}
run() { "$analects" run "$work/s.toml" --engine host "$@" >"$work/out" 2>"$work/err"; }
# What a run could leave, where the host can see it.
left() {
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/'
    ls /run/netns $tracing/instances
    grep analects $tracing/dynamic_events || true
    for process in /proc/[0-9]*; do
        tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep "analects guest" || true
    done
    mount
}
clean() {
    left >"$work/after"
    cmp -s "$work/before" "$work/after" || { diff "$work/before" "$work/after"; fail "$1: something is left"; }
}
# Waits until traffic runs: its records are then asked for.
await() {
    tries=0
    until [ "$(cat $tracing/instances/analects_*/events/*/come/enable 2>/dev/null)" = 1 ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || fail "traffic does not start"
        sleep 0.2
    done
}

cat >"$work/s.toml" <<'EOF'
name = "real"
duration = "4s"
warmup = "1s"
disciplines = ["fq_codel", "confucius"]
[link]
rate = "20mbit"
rtt = "40ms"
buffer = "200p"
[[traffic]]
name = "call"
kind = "call"
control = "copa"
[[traffic]]
name = "bulk"
kind = "bulk"
control = "cubic"
EOF
left >"$work/before"

! run --kernel 6.1 && grep -q "only this host's kernel" "$work/err" || fail "--kernel"
! setpriv --reuid 1000 "$analects" run "$work/s.toml" --engine host 2>"$work/err" &&
    grep -q "needs root" "$work/err" || fail "a user"
passed "says whose kernel it is, and that it needs root"

! run -d confucius && grep -q "tc .*confucius" "$work/err" || fail "without the module"
clean "without the module"
passed "names the command that the kernel refuses"

insmod "$module"
run --format json || fail "a run"
clean "a run"
for name in fq_codel confucius; do
    grep -q "\"discipline\": \"$name\"" "$work/out" || fail "no result of $name"
done
rates=$(grep -c '"goodput_mbps": [1-9]' "$work/out") || true
[ "$rates" -ge 4 ] || fail "$rates of 4 flows got anything"
grep -q "in real time" "$work/out" || fail "it does not say that its time was real"
passed "runs, and leaves nothing"

interrupt() {
    await
    kill "-$1" $process
    ! wait $process || fail "SIG$1: success"
    grep -q "interrupted" "$work/err" || fail "SIG$1: it does not say so"
    clean "SIG$1"
}
start run &
process=$!
interrupt INT
start sweep --over link.rate=10mbit,20mbit &
process=$!
interrupt TERM
passed "stops at a signal, and leaves nothing"

start run &
process=$!
await
kill -KILL $process
! wait $process 2>/dev/null || fail "SIGKILL: success"
sleep 1
left | grep -v analects_ >"$work/after"
cmp -s "$work/before" "$work/after" || { diff "$work/before" "$work/after"; fail "SIGKILL: more than records is left"; }
[ -n "$(ls $tracing/instances)" ] || fail "SIGKILL: there are no records that a next run could take away"
run -d fq_codel || fail "after SIGKILL"
clean "after SIGKILL"
passed "killed, its namespaces go; its records with the next run"
echo "analects-real: $tests ok"
