#!/bin/sh
# `analects tc` with the real tc and ip, in a network namespace of its own: applied, shown, changed,
# cleared; failing at every command; interrupted and killed in the middle. Never on a device of the
# host's. Uses the disciplines that the running kernel has.
#
#   test-live.sh [ANALECTS]
# shellcheck disable=SC2086 # $ingress is several words or none
set -eu

missing() {
    echo "test-live: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in tc ip unshare; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            missing "there is no $program; install iproute2 and util-linux"
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-live: $analects cannot be run" >&2; exit 1; }
    unshare -Urn true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urn fails"
    # -U: no root is needed, and none can be had. -n: nothing of the host's network is in reach.
    exec unshare -Urn sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-live.XXXXXX")
trap 'rm -rf "$work"' EXIT
state=$work/state
. scripts/assertions.sh

fail() {
    echo "test-live: FAILED: $1" >&2
    sed 's/^/    /' "$work"/out "$work"/err >&2 2>/dev/null || true
    exit 1
}

# A device with a peer, both up.
ip link add v0 type veth peer name v1 2>"$work/err" || missing "no veth: $(cat "$work/err")"
ip link set v0 up
ip link set v1 up
for probe in "htb default 1" "pfifo limit 10" "bfifo limit 10000" "tbf rate 1mbit burst 2000 limit 9000"; do
    # shellcheck disable=SC2086 # words
    tc qdisc replace dev v1 root $probe 2>"$work/err" ||
        missing "this kernel has no ${probe%% *}: $(cat "$work/err")"
    tc qdisc del dev v1 root
done
ingress="--ingress 45mbit"
if ! { ip link add ifb-test type ifb && ip link set ifb-test up && ip link del ifb-test &&
    tc qdisc add dev v1 ingress && tc filter add dev v1 ingress protocol all pref 1 u32 match u32 0 0 \
    action mirred egress redirect dev v0; } 2>"$work/err"; then
    echo "test-live: without ingress, which this kernel cannot shape: $(cat "$work/err")" >&2
    ingress=
fi
tc qdisc del dev v1 ingress 2>/dev/null || true

# All state that could differ. The number of references, and the index by which an action is
# listed, are the kernel's own.
network() {
    for device in v0 v1; do
        echo "$device"
        tc -d -j qdisc show dev $device | sed 's/"refcnt":[0-9]*,//g'
        tc class show dev $device
        tc filter show dev $device ingress
        ip -o link show dev $device | sed 's/ qdisc [^ ]*//; s/ group default.*//'
    done
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/'
}
unchanged() {
    network >"$work/now"
    cmp -s "$work/before" "$work/now" || {
        diff "$work/before" "$work/now" >&2 || true
        fail "$1: the network is not what it was"
    }
}
no_journal() {
    set -- "$state"/tc-*.json "$1"
    if [ -e "$1" ]; then fail "$2: a journal is left: $1"; fi
}
tc_() {
    "$analects" tc "$@" --state "$state" >"$work/out" 2>"$work/err"
}
# Whether the last complaint contains this, independent of its line breaks.
complains() {
    tr -d '| \n' <"$work/err" | grep -Eq "$(echo "$1" | tr -d ' ')"
}
apply() {
    tc_ apply --dev v0 --rate 9mbit $ingress --overhead docsis --discipline pfifo,limit=100 "$@"
}
clear() {
    tc_ clear --dev v0 || fail "$1: clear"
    unchanged "$1"
    no_journal "$1"
}

network >"$work/before"
apply --dry-run || fail "dry run"
unchanged "a dry run"
commands=$(wc -l <"$work/out")
cp "$work/out" "$work/announced"
passed "a dry run prints $commands commands and changes nothing"

apply || fail "apply"
cmp -s "$work/out" "$work/announced" || fail "apply printed other commands than the dry run"
tc qdisc show dev v0 | grep -q '^qdisc htb a1: root' || fail "no htb"
tc qdisc show dev v0 | grep -q '^qdisc pfifo b1: parent a1:1 limit 100p' || fail "no pfifo"
tc class show dev v0 | grep -q 'rate 9Mbit overhead 4 ' || fail "no class"
tc_ show || fail "show"
grep -q '^  as it was applied' "$work/out" || fail "show finds differences"
passed "apply makes what it says, and show finds it there"

if [ -n "$ingress" ]; then
    # Packets of v1's, whose way goes through the ifb device.
    ip addr add 192.0.2.1/24 dev v1
    ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev v1
    bash -c 'for i in 1 2 3; do echo x >/dev/udp/192.0.2.2/9; done'
    ip addr del 192.0.2.1/24 dev v1
    tc_ show --format json || fail "show --format json"
    grep -q '"device": "ifb-v0"' "$work/out" || fail "no ifb in show --format json"
    tc -s qdisc show dev ifb-v0 root | grep -q 'Sent [1-9]' || fail "nothing was received through the ifb"
    passed "what is received goes through the ifb device"
fi

tc class change dev v0 parent a1: classid a1:1 htb rate 3mbit
tc_ show --dev v0 || fail "show"
grep -q 'rate of v0 is 3mbit, not 9mbit' "$work/out" || fail "show does not see a rate that was changed"
clear "a changed rate"
tc_ clear || fail "clear again"
complains 'nothing is applied' || fail "clear again"
passed "show sees what was changed since; clear puts everything back, and can be repeated"

apply || fail "apply"
tc_ apply --dev v0 --rate 8mbit $ingress --discipline pfifo,limit=50 || fail "apply in place"
if grep -q ' del ' "$work/out"; then fail "a change in place takes something down"; fi
tc class show dev v0 | grep -q 'rate 8Mbit ceil' || fail "the rate was not changed"
tc qdisc show dev v0 | grep -q '^qdisc pfifo b1: parent a1:1 limit 50p' || fail "the limit was not changed"
tc_ apply --dev v0 --rate 8mbit $ingress --discipline bfifo,limit=50kB || fail "apply another discipline"
tc qdisc show dev v0 | grep -q '^qdisc bfifo b2: parent a1:1 limit 50000b' || fail "no bfifo"
tc_ apply --dev v0 --rate 7mbit --discipline bfifo || fail "apply without ingress"
tc_ show || fail "show"
grep -q '^  as it was applied' "$work/out" || fail "show finds differences"
tc_ clear || fail "clear without a device"
unchanged "clear without a device"
no_journal "clear without a device"
passed "applied again: in place where that can be, and clear, of all devices, goes back to the beginning"

tc qdisc replace dev v0 root handle 8001: pfifo limit 77
network >"$work/before"
apply || fail "apply over a pfifo"
clear "over a pfifo"
tc qdisc show dev v0 | grep -q 'pfifo 8001: root .*limit 77p' || fail "no pfifo"
tc qdisc replace dev v0 root handle 1: tbf rate 1mbit burst 2000 limit 9000
network >"$work/before"
if apply; then fail "a tbf was replaced"; fi
complains 'its root is tbf 1:, which could not be put back exactly' || fail "no word about tbf"
unchanged "a refusal"
no_journal "a refusal"
apply --replace || fail "--replace"
tc_ clear --dev v0 || fail "clear after --replace"
tc qdisc show dev v0 | grep -q 'qdisc noqueue 0: root' || fail "the default did not come back"
network >"$work/before"
passed "a simple discipline is put back exactly, another one is left alone unless --replace"

tc_ apply --dev nothing --rate 9mbit && fail "a device that is not there"
complains 'there is no device nothing' || fail "no word about the device"
tc_ apply --dev v0 --rate 9mbit $ingress --discipline hhf && fail "hhf"
for discipline in confucius confucius,limit=500; do
    if tc qdisc replace dev v1 root confucius 2>/dev/null; then
        tc qdisc del dev v1 root
        break
    fi
    if tc_ apply --dev v0 --rate 9mbit $ingress --discipline $discipline; then fail "$discipline"; fi
    complains 'everything is as it was' || fail "$discipline: no word on the state"
    complains 'kind is unknown|Unknown qdisc' || fail "$discipline: no word on what is missing"
    complains 'docs/packaging.md' || fail "$discipline: no word on what to install"
    # Nothing can be installed where the kernel loads no modules.
    if complains 'kind is unknown' && [ ! -e /proc/modules ]; then
        complains 'no support for modules: the discipline has to be' || fail "$discipline: advises a module"
    fi
    unchanged "$discipline"
    no_journal "$discipline"
done
passed "what is missing is named, and the host left as it was"

# A tc and an ip that count the changes they are asked for, and at number $FAULT_AT fail, or kill or
# interrupt the caller: before or after having done it.
mkdir "$work/bin"
for program in tc ip; do
    real=$(command -v $program)
    cat >"$work/bin/$program" <<EOF
#!/bin/sh
case " \$* " in
*" show "*) exec $real "\$@" ;;
esac
count=\$(cat "$work/count")
echo \$((count + 1)) >"$work/count"
[ "\$count" = "\$FAULT_AT" ] || exec $real "\$@"
case \$FAULT in
fail) echo "made to fail" >&2; exit 1 ;;
fail-after) $real "\$@"; echo "made to fail" >&2; exit 1 ;;
kill) kill -KILL \$PPID; exit 1 ;;
kill-after) $real "\$@"; kill -KILL \$PPID; exit 1 ;;
interrupt) kill -INT \$PPID; exec $real "\$@" ;;
terminate) kill -TERM \$PPID; exec $real "\$@" ;;
esac
EOF
    chmod +x "$work/bin/$program"
done
faulty() {
    echo 0 >"$work/count"
    PATH="$work/bin:$PATH" FAULT=$1 FAULT_AT=$2 apply
}
for fault in fail fail-after interrupt terminate kill kill-after; do
    at=0
    while [ $at -lt "$commands" ]; do
        status=0
        faulty $fault $at || status=$?
        last=$((commands - 1))
        case $fault in
        kill*)
            [ $status = 137 ] || fail "$fault at $at: status $status"
            ;;
        interrupt | terminate)
            # At the last command it comes too late: all is done.
            if [ $at = $last ]; then expected=0; else expected=1; fi
            [ $status = $expected ] || fail "$fault at $at: status $status"
            ;;
        *)
            [ $status = 1 ] || fail "$fault at $at: status $status"
            complains "made to fail; everything" || fail "$fault at $at: no word"
            ;;
        esac
        if [ $status = 1 ]; then
            unchanged "$fault at $at"
            no_journal "$fault at $at"
        fi
        clear "$fault at $at, cleared"
        at=$((at + 1))
    done
    passed "$fault at each of $commands commands"
done

at=0
while [ $at -lt "$commands" ]; do
    faulty kill $at 2>/dev/null && fail "killed at $at"
    apply || fail "applied after being killed at $at"
    tc_ show || fail "show"
    grep -q '^  as it was applied' "$work/out" || fail "show finds differences after $at"
    clear "applied after being killed at $at, cleared"
    at=$((at + 1))
done
passed "what a killed one left is undone at the next start"

apply || fail "apply"
ip link del v0
tc_ clear --dev v0 || fail "clear of a device that vanished"
if ip link show ifb-v0 >/dev/null 2>&1; then fail "the ifb device stays"; fi
no_journal "a device that vanished"
passed "a device that vanished leaves nothing behind"

echo "test-live: $tests passed"
