#!/bin/sh
# The systemd unit and the ifupdown hook that call `analects tc`: what systemd says of the unit, and its
# commands with the real tc and ip, in a network namespace of its own, where a device goes and comes anew
# and the machine seems to be started again. Never on a device of the host's, nor in its /run.
#
#   test-tc-unit.sh [ANALECTS]
set -eu
cd "$(dirname "$0")/.."
. scripts/assertions.sh

skipped() {
    echo "test-tc-unit: SKIPPED, $1" >&2
}
fail() {
    echo "test-tc-unit: FAILED: $1" >&2
    sed 's/^/    /' "$work"/out "$work"/err >&2 2>/dev/null || true
    exit 1
}

unit=packaging/systemd/analects-tc@.service
rates=packaging/systemd/analects-autorate@.service
hook=packaging/ifupdown/analects-tc

# What systemd says of the unit in the file $1, as the one of $3; $2 is the program.
verified() {
    mkdir -p "$work/verify"
    sed "s|^\(Exec[A-Za-z]*=\)analects |\1$2 |" "$1" >"$work/verify/analects-$3@.service"
    systemd-analyze verify --man=no --recursive-errors=no "$work/verify/analects-$3@wan.service" \
        >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ]
}
verify() {
    command -v systemd-analyze >/dev/null || { skipped "the unit was not verified: there is no systemd-analyze"; return; }
    if ! systemd-analyze --help | grep -q -e --recursive-errors; then
        skipped "the unit was not verified: systemd-analyze is older than 250"
        return
    fi
    verified $unit "$analects" tc || fail "systemd-analyze verify $unit"
    verified $rates "$analects" autorate || fail "systemd-analyze verify $rates"
    sed 's/^Type=/Tipe=/' $unit >"$work/wrong"
    if verified "$work/wrong" "$analects" tc; then fail "systemd-analyze verify sees no mistake"; fi
    passed "systemd finds no fault with the units"
}
# The names of units have a hyphen escaped; a wrong name would wait for a device that never comes.
enabled() {
    command -v systemctl >/dev/null || { skipped "the unit was not enabled: there is no systemctl"; return; }
    root=$work/root
    mkdir -p "$root/etc/systemd/system" "$root/usr/lib/systemd/system"
    cp $unit "$root/usr/lib/systemd/system"
    for device in wan br-lan; do
        name=$(systemd-escape --template=analects-tc@.service $device)
        systemctl --root="$root" enable "$name" >"$work/out" 2>"$work/err" || fail "enable $name"
        wants=$(systemd-escape --path --suffix=device /sys/subsystem/net/devices/$device).wants
        [ -L "$root/etc/systemd/system/$wants/$name" ] || fail "$device does not start $name"
    done
    passed "a device starts its unit, also one with a hyphen in its name"
}

if [ "${1:-}" != --inside ]; then
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-tc-unit: $analects cannot be run" >&2; exit 1; }
    work=$(mktemp -d "${TMPDIR:-/tmp}/analects-unit.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    verify
    enabled
    sh packaging/openwrt/sqm/test/run.sh >"$work/out" 2>&1 || fail "the scripts for sqm"
    for shell in sh "busybox ash"; do
        command -v ${shell% *} >/dev/null || continue
        SHELL_OF_ROUTER=$shell sh packaging/openwrt/analects-router/test/run.sh >"$work/out" 2>&1 ||
            fail "the service of OpenWrt, by $shell"
    done
    passed "OpenWrt's service starts, stops and clears the lines of its configuration, and sqm gets its commands"
    PATH=$PATH:/usr/sbin:/sbin
    for program in tc ip unshare; do
        command -v $program >/dev/null || {
            skipped "no command of the unit was run: there is no $program; install iproute2 and util-linux"
            exit 0
        }
    done
    unshare -Urnm true 2>/dev/null || {
        skipped "no command of the unit was run: a namespace cannot be made here: unshare -Urnm fails"
        exit 0
    }
    # As scripts/test-live.sh; -m: with a /run of its own, where the journals are.
    unshare -Urnm sh "$0" --inside "$analects" "$work"
    exit
fi

analects=$2 work=$3
mount -t tmpfs none /run
mkdir "$work/bin" "$work/etc"
ln -s "$analects" "$work/bin/analects"

# A device with a peer, as it is after a start of the machine, or when it comes anew.
come() {
    ip link add v0 type veth peer name v1
}
go() {
    ip link del v0
}
come 2>"$work/err" || { skipped "no command of the unit was run: no veth: $(cat "$work/err")"; exit 0; }
# An example's options, with a discipline of every kernel that has htb; without ingress if need be.
options=$(sed -n 's/^OPTIONS="\(.*\)"$/\1/p' packaging/systemd/options.example)
options=$(echo "$options" | sed 's/ mencius$/ pfifo,limit=100/')
case $options in *"--up 9mbit --down 45mbit "*pfifo*) ;; *) fail "the example has other options: $options" ;; esac
tc qdisc add dev v1 root handle a1: htb 2>"$work/err" ||
    { skipped "no command of the unit was run: this kernel has no htb: $(cat "$work/err")"; exit 0; }
tc qdisc del dev v1 root
if ! { ip link add ifb-test type ifb && ip link set ifb-test up && ip link del ifb-test &&
    tc qdisc add dev v1 ingress && tc filter add dev v1 ingress protocol all pref 1 u32 match u32 0 0 \
    action mirred egress redirect dev v0; } 2>"$work/err"; then
    echo "test-tc-unit: without ingress, which this kernel cannot shape: $(cat "$work/err")" >&2
    options=$(echo "$options" | sed 's/ --down [^ ]*//')
fi
tc qdisc del dev v1 ingress 2>/dev/null || true

network() {
    tc -d -j qdisc show dev v0 | sed 's/"refcnt":[0-9]*,//g'
    tc class show dev v0
    tc filter show dev v0 ingress
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/'
}
unchanged() {
    network >"$work/now"
    cmp -s "$work/${2:-before}" "$work/now" || {
        diff "$work/${2:-before}" "$work/now" >&2 || true
        fail "$1: the network is not what it was"
    }
}
applied() {
    tc qdisc show dev v0 | grep -q '^qdisc pfifo b1: parent a1:1 limit 100p' || fail "$1: no pfifo"
    tc class show dev v0 | grep -q 'rate 9Mbit' || fail "$1: no rate"
    case $options in *--down*)
        tc filter show dev v0 ingress | grep -q 'ifb-v0' || fail "$1: what is received is not shaped"
        ;;
    esac
    "$analects" tc show --dev v0 >"$work/out" 2>"$work/err" || fail "$1: show"
    grep -q '^  as it was applied' "$work/out" || fail "$1: show finds differences"
}
no_journal() {
    set -- /run/analects/tc-*.json "$1"
    if [ -e "$1" ]; then fail "$2: a journal is left: $1"; fi
}
# A restart: the devices that somebody made are gone, and /run is empty.
restart() {
    go
    ip link del ifb-v0 2>/dev/null || true
    rm -rf /run/analects
}
# What systemd runs at the line $1 of the unit: the first word is looked for in its folders, and only
# $OPTIONS as a word of its own is split.
systemd() {
    command=$(sed -n "s/^$1=//p" $unit | sed "s|%I|v0|; s|\$OPTIONS|$options|")
    [ -n "$command" ] || fail "the unit has no $1"
    # shellcheck disable=SC2086 # words
    PATH="$work/bin:$PATH" sh -fc "$command" >"$work/out" 2>"$work/err"
}

up() {
    ip link set v0 up
    ip link set v1 up
}
network >"$work/before"
up
network >"$work/before-up"
go
come
systemd ExecStartPre || fail "start"
applied "start"
up
applied "up after the start"
systemd ExecReload || fail "reload"
[ ! -s "$work/out" ] || fail "a reload without a change changes something"
applied "reload"
systemd ExecStopPost || fail "stop"
no_journal "stop"
unchanged "stop" before-up
go
come
passed "started before the device is up, reloaded and stopped"

# What other programs take away, one thing after the other.
systemd ExecStartPre || fail "start"
up
PATH="$work/bin:$PATH" analects tc keep --dev v0 >"$work/out" 2>"$work/kept" &
keeper=$!
number=0
taken() {
    number=$((number + 1))
    "$@" || fail "$*"
    for _ in $(seq 20); do
        sleep 0.1
        "$analects" tc show --dev v0 >"$work/out" 2>"$work/err" || fail "show after $*"
        grep -q "^  as it was applied" "$work/out" && grep -q "put back $number times" "$work/out" && return
    done
    fail "after $* it is not there again within two seconds"
}
sleep 0.5
taken tc qdisc del dev v0 root
taken tc qdisc replace dev v0 root pfifo
taken tc qdisc del dev v0 parent a1:1
taken tc class change dev v0 parent a1: classid a1:1 htb rate 3mbit
case $options in *--down*)
    taken tc filter del dev v0 ingress
    taken tc qdisc del dev v0 ingress
    taken ip link del ifb-v0
    taken tc qdisc del dev ifb-v0 root
    ;;
esac
[ "$(grep -c 'it is there again' "$work/kept")" = 1 ] || fail "it is not said once: $(cat "$work/kept")"
"$analects" tc show --dev v0 --format json >"$work/out"
grep -q "\"restored\": $number" "$work/out" || fail "JSON does not count it"
"$analects" tc show --dev v0 --format prometheus >"$work/out"
grep -q "^analects_tc_restored_total{setup=\"v0\"} $number\$" "$work/out" || fail "Prometheus does not count it"
kill "$keeper"
wait "$keeper" || fail "SIGTERM ended it with $?"
"$analects" tc keep --dev v0 >"$work/out" 2>"$work/kept" &
keeper=$!
sleep 0.5
tc qdisc replace dev v0 root handle 1: htb
status=0
wait "$keeper" || status=$?
[ "$status" = 1 ] || fail "what cannot be put back ended it with $status"
grep -q 'cannot be put back' "$work/kept" || fail "no word on what cannot be put back"
tc qdisc del dev v0 root
systemd ExecStopPost || fail "stop"
no_journal "stop after others took parts away"
unchanged "stop after others took parts away" before-up
go
come
passed "what other programs take away is there again within two seconds, said once and counted"

# A cleaner of /run takes the journal, or it is in another --state.
systemd ExecStartPre || fail "start"
rm -rf /run/analects
"$analects" tc show >"$work/out" 2>"$work/err" || fail "show without a journal"
grep -q '^v0: .*known by its handles' "$work/out" || fail "show does not know the set-up without its journal"
"$analects" tc clear --dev v0 >"$work/out" 2>"$work/err" || fail "clear without a journal"
unchanged "cleared without a journal"
systemd ExecStartPre || fail "start"
rm -rf /run/analects
systemd ExecStartPre || fail "start over a set-up without a journal"
applied "start over a set-up without a journal"
systemd ExecStopPost || fail "stop"
unchanged "started over a set-up without a journal, and stopped"
passed "a set-up whose journal is lost is shown, cleared and replaced"

# The longest name that a device can have, as USB adapters do; one direction comes and goes alone.
case $options in *--down*)
    ip link add enx78e7d1ea46da type veth peer name v2
    "$analects" tc apply --dev enx78e7d1ea46da --rate 9mbit --ingress 45mbit -d pfifo >"$work/out" 2>"$work/err" ||
        fail "a device with a long name"
    tc qdisc show dev enx78e7d1ea46da | grep -q 'pfifo b1: parent a1:1 limit 1000p' || fail "no limit is stated"
    ifb=$(sed -n 's/^ip link add name \(ifb-enx78-[0-9a-f]*\) type ifb$/\1/p' "$work/out")
    tc qdisc show dev "$ifb" | grep -q 'pfifo b1: parent a1:1 limit 1000p' || fail "no limit is stated on the ifb"
    "$analects" tc apply --dev enx78e7d1ea46da --rate 9mbit -d pfifo >"$work/out" 2>"$work/err" || fail "one direction"
    grep -q 'root\|parent' "$work/out" && fail "what the device sends was touched"
    if ip link show "$ifb" >/dev/null 2>&1; then fail "the ifb device stays"; fi
    "$analects" tc clear >"$work/out" 2>"$work/err" || fail "clear of a long name"
    ip link del enx78e7d1ea46da
    ;;
esac
passed "a long name has its ifb device, each limit is stated, and a direction goes alone"

# On trial: a word lets it stay; without one, what stood comes back.
rate_is() {
    tc class show dev v0 | grep -q "rate $1 " || fail "$2: found $(tc class show dev v0), expected $1"
}
"$analects" tc apply --dev v0 --rate 9mbit -d pfifo --confirm 5s </dev/null >"$work/out" 2>"$work/err" &&
    fail "a set-up that nobody confirmed stays"
grep -q 'was not confirmed, and is undone' "$work/err" || fail "an undone trial is not told of"
unchanged "never confirmed"
echo yes | "$analects" tc apply --dev v0 --rate 9mbit -d pfifo --confirm 60s >"$work/out" 2>"$work/err" ||
    fail "a confirmed set-up"
rate_is 9Mbit "confirmed"
: >"$work/err"
"$analects" tc apply --dev v0 --rate 5mbit -d pfifo --confirm 60s </dev/null >"$work/out" 2>>"$work/err" &
trial=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q 'on trial' "$work/err" && break
    sleep 0.5
done
rate_is 5Mbit "on trial"
kill -HUP $trial
wait $trial && fail "a trial whose terminal went stays"
rate_is 9Mbit "after a trial whose terminal went"
"$analects" tc apply --dev v0 --rate 5mbit -d pfifo --confirm 1s >"$work/out" 2>"$work/err" && fail "a second"
rate_is 9Mbit "after a wrong time"
"$analects" tc clear --dev v0 >"$work/out" 2>"$work/err" || fail "clear after a trial"
unchanged "tried"
passed "a set-up on trial stays if it is confirmed, and what stood comes back if not"

systemd ExecStartPre || fail "start"
restart
come
systemd ExecStartPre || fail "start after a restart"
applied "start after a restart"
systemd ExecStopPost || fail "stop after a restart"
unchanged "stop after a restart"
no_journal "stop after a restart"
passed "started after a restart, which left no journal"

for times in once twice; do
    systemd ExecStartPre || fail "start"
    [ -e "$(echo /run/analects/tc-*-v0.json)" ] || fail "there is no journal"
    go
    come
    systemd ExecStartPre || fail "start of a device that came back, $times"
    applied "a device that came back, $times"
done
# The new device has another queue than the former one had, and keeps it.
go
come
tc qdisc replace dev v0 root handle 8001: pfifo limit 77
network | grep -v '^ifb-v0$' >"$work/other"
systemd ExecStartPre || fail "start of a device that came back with a queue"
applied "a device that came back with a queue"
systemd ExecStopPost || fail "stop of a device that came back with a queue"
network | cmp -s - "$work/other" || fail "the queue of a device that came back is not what it was"
tc qdisc del dev v0 root
# Nor is the hook for what it receives taken for the one that went with the former device.
case $options in *--down*)
    systemd ExecStartPre || fail "start"
    go
    come
    tc qdisc add dev v0 handle ffff: ingress
    systemd ExecStopPost || fail "stop of a device that came back with a hook"
    tc qdisc show dev v0 | grep -q '^qdisc ingress ' || fail "the hook of a device that came back is gone"
    tc qdisc del dev v0 ingress
    ;;
esac
unchanged "a device that came back"
no_journal "a device that came back"
passed "started with the journal of a device that went away and came back"

systemd ExecStartPre || fail "start"
go
systemd ExecStopPost || fail "stop of a device that is gone"
if ip link show ifb-v0 >/dev/null 2>&1; then fail "the ifb device of a device that is gone stays"; fi
no_journal "stop of a device that is gone"
systemd ExecStopPost || fail "stop of a device that is gone, again"
if systemd ExecStartPre; then fail "started without a device"; fi
come
unchanged "a device that is gone"
passed "stopped after the device is gone"

# Two devices come at once; the second waits for the first.
ip link add w0 type veth peer name w1
for round in 1 2 3 4 5; do
    for device in v0 w0; do
        # shellcheck disable=SC2086 # words
        "$analects" tc apply --dev $device $options >"$work/out-$device" 2>"$work/err-$device" &
        eval "$device=\$!"
    done
    # shellcheck disable=SC2154 # eval sets them
    wait "$v0" || { cat "$work/err-v0" >&2; fail "v0 beside w0, round $round"; }
    # shellcheck disable=SC2154
    wait "$w0" || { cat "$work/err-w0" >&2; fail "w0 beside v0, round $round"; }
    "$analects" tc clear >"$work/out" 2>"$work/err" || fail "clear"
done
ip link del w0
unchanged "two at once"
passed "two devices come at once"

# The hook's file, written as systemd permits it, and without quotation marks.
sed "s|/etc/analects/tc|$work/etc|" $hook >"$work/hook"
hook() {
    PATH="$work/bin:$PATH" IFACE=$1 PHASE=$2 sh "$work/hook" >"$work/out" 2>"$work/err"
}
for file in "OPTIONS=\"$options\"" "OPTIONS=$options" "# OPTIONS=\"--rate 1mbit\"
OPTIONS='$options'"; do
    echo "$file" >"$work/etc/v0"
    hook v0 post-up || fail "ifup"
    applied "ifup with $file"
    hook v0 post-down || fail "ifdown"
    unchanged "ifdown"
    no_journal "ifdown"
done
hook v1 post-up && hook --all post-up || fail "ifup without options"
unchanged "ifup without options"
go
hook v0 post-up || fail "a device without its queue is a failure of ifup"
grep -q 'there is no device v0' "$work/err" || fail "the hook keeps a failure to itself"
hook v0 post-down || fail "ifdown of a device that is gone"
come
mkdir -p /run/systemd/system
hook v0 post-up || fail "ifup with systemd"
unchanged "ifup with systemd"
passed "the hook of ifupdown does the same, and nothing where systemd does it"
