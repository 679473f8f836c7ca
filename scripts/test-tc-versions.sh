#!/bin/sh
# The tc plugins under the tc of other Debian releases: the tdc cases on a stock kernel, with
# Debian 13's and unstable's iproute2 instead of Debian 12's.
#   [RELEASE=6.12] sh scripts/test-tc-versions.sh        (6.1 by default)
# The releases' tc are fetched once and kept in the cache.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
kernel=${RELEASE:-6.1}
results=$PWD/target/tc-versions
sh scripts/kernel-engine.sh "$kernel"

# tc and its libraries, unpacked and not installed. Unstable's lists outlive their date on mirrors
# that are not updated daily; they are signed all the same.
fetch() {
    [ ! -e "$cache/tc-$1/usr/sbin/tc" ] || return 0
    echo "test-tc-versions: fetching tc of $1"
    rm -rf "$cache/tc-$1" "$cache/tc-$1.part"
    mmdebstrap --quiet --variant=extract --include=iproute2 \
        --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$cache/tc-$1.part" "$mirror/debian"
    mv "$cache/tc-$1.part" "$cache/tc-$1"
}

sh scripts/apt.sh mmdebstrap python3 gcc libc6-dev make
cargo build --quiet --locked -p machine
rm -rf "$results"
mkdir -p "$results/tc"
sh scripts/kernel-test-programs.sh "$results/programs"
for discipline in $(sh kernel/copy.sh --list); do
    python3 kernel/tc/tests/compile.py "kernel/tc/tests/$discipline.json" > "$results/$discipline.sh"
done
# Built by Debian 12's compiler, so that the same plugins run in all of them.
tc_plugins "$kernel" "$results/tc"

for suite in trixie sid; do
    fetch "$suite"
    mkdir -p "$results/$suite"
    libraries=$cache/tc-$suite/usr/lib/x86_64-linux-gnu
    loader=$cache/tc-$suite/usr/lib64/ld-linux-x86-64.so.2
    # tc's libraries, from its own release.
    "$loader" --library-path "$libraries" --list "$cache/tc-$suite/usr/sbin/tc" |
        sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | xargs -I LIBRARY cp -L LIBRARY "$results/$suite/"
    cp -L "$loader" "$results/$suite/ld.so"
    cp "$cache/tc-$suite/usr/sbin/tc" "$results/$suite/tc.real"
    cat > "$results/$suite/tc" <<'END'
#!/bin/sh
exec /job/suite/ld.so --library-path /job/suite /job/suite/tc.real "$@"
END
    chmod +x "$results/$suite/tc"

    for discipline in $(sh kernel/copy.sh --list); do
        log=$results/$suite-$discipline.log
        if "${CARGO_TARGET_DIR:-target}/debug/vm" --kernel "$kernel" --limit 600 --module \
            --file kernel/tc/tests/run.sh --file "$results/programs/send" --file "$results/$discipline.sh" \
            --file "$results/tc/tc/q_$discipline.so" --file "$results/$suite:/job/suite" -- \
            "insmod sch_$discipline.ko && export TC=/job/suite/tc TC_LIB_DIR=/job && \$TC -V && sh run.sh $discipline.sh" \
            > "$log" 2>&1; then
            echo "test-tc-versions: $suite: $discipline: $(head -n 1 "$log"): $(grep -c '^ok' "$log") cases ok on $kernel"
        else
            cat "$log"
            fail "tc of $suite: see $log"
        fi
    done
done
