#!/bin/sh
# Tries the programs of `scripts/dist.sh` against the native one, those of other processors under QEMU's user emulation:
# - both are static;
# - `analects run` prints the same to the byte, on stores of their own;
# - `analects-router tc apply --dry-run` and `gateway --dry-run` print the same;
# - `analects-router probe` as the client, and as the server, of the native one.
#   sh scripts/test-dist.sh [PROCESSOR...]
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
sh scripts/apt.sh file qemu-user-static
target=${CARGO_TARGET_DIR:-target}
[ $# != 0 ] || set -- x86_64 aarch64 armv7
native=$(ANALECTS_PROFILE=dev sh scripts/built.sh analects)
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-dist.XXXXXX")
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
fail() {
    echo "test-dist: FAILED: $1" >&2
    tail -n 20 "$work/err" >&2 2>/dev/null || true
    exit 1
}

# runs PROCESSOR: the words before a program of that processor.
runs() {
    case $1 in
    "$(uname -m)") ;;
    armv7) echo qemu-arm-static ;;
    *) echo "qemu-$1-static" ;;
    esac
}

# printed FILE ANALECTS...: what a run prints; the store is the file's own, so that nothing is taken from another's.
printed() {
    file=$1
    shift
    ANALECTS_CACHE=$file.store "$@" run scenarios/page-during-call.toml --format json >"$file" 2>"$work/err" ||
        fail "$* run"
}

# planned FILE ANALECTS...: what `tc apply` and `gateway` would do.
planned() {
    file=$1
    shift
    {
        "$@" tc apply --dev lo --rate 20mbit --ingress 50mbit --state "$work/state" --dry-run &&
            "$@" tc apply --dev lo --rate 20mbit -d cake --overhead docsis --state "$work/state" --dry-run
    } >"$file" 2>"$work/err" || fail "$* tc apply --dry-run"
    grep -q ' mencius ' "$file" || fail "$* tc apply --dry-run prints no mencius"
}

# probed SERVER CLIENT, both commands: two trains of packets over the loopback device.
probed() {
    : >"$work/served"
    # shellcheck disable=SC2086 # words
    $1 probe serve --listen 127.0.0.1:0 --key "$work/key" >"$work/served" 2>"$work/err" &
    server=$!
    for _ in $(seq 50); do
        grep -q '^pin ' "$work/served" && break
        sleep 0.2
    done
    port=$(sed -n 's/^listening on .*://p' "$work/served")
    pin=$(sed -n 's/^pin //p' "$work/served")
    [ -n "$pin" ] || fail "$1 probe serve"
    # A name: it has to be looked up without a C library's modules.
    # shellcheck disable=SC2086 # words
    timeout 60 $2 probe "localhost:$port" --pin "$pin" --quick --json >"$work/probed" 2>"$work/err" || fail "$2 probe"
    grep -q '"verdict"' "$work/probed" || fail "$2 probe prints no verdict"
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
}

printed "$work/native.json" "$native"
planned "$work/native.plan" "$native"
for processor in "$@"; do
    programs=$target/programs/$processor
    # shellcheck disable=SC2046 # words
    set -- $(runs "$processor")
    for program in analects analects-router; do
        file "$programs/$program" | grep -Eq 'static(ally|-pie) linked' || fail "$programs/$program is not static"
    done
    printed "$work/$processor.json" "$@" "$programs/analects"
    cmp "$work/native.json" "$work/$processor.json" || fail "$processor: another run"
    planned "$work/$processor.plan" "$@" "$programs/analects-router"
    cmp "$work/native.plan" "$work/$processor.plan" || fail "$processor: another plan"
    probed "$* $programs/analects-router" "$native"
    probed "$native" "$* $programs/analects-router"
    echo "test-dist: $processor: run ($(stat -c %s "$work/$processor.json") bytes of JSON) and tc as the native one's; probe both ways"
done
