#!/bin/sh
# Mutants of Confucius, and the survivors among them.
#
#   sh scripts/mutants.sh [c|rust]...
#
# c: each mutant of the core in kernel/ replays the traces that were worked out by hand and random
# ones, and is dead if it decides differently from the discipline in Rust, crashes or hangs. rust:
# cargo-mutants. Both leave a list of survivors in target/mutants; whether one of them decides as it
# should is for a reader to say. Those in C of which a reader did stand in kernel/test/mutants-alive.txt,
# and another one is a failure. JOBS=4 tries so many at once.
set -eu
cd "$(dirname "$0")/.."
root=$PWD out=$PWD/target/mutants jobs=${JOBS:-$(nproc)}
mkdir -p "$out"

# Whether a program's decisions are those of the discipline in Rust.
agrees() {
    for traces in written random more; do
        timeout 20 "$1" < "$out/$traces.trace" > "$1.decisions" 2>/dev/null || return 1
        cmp -s "$1.decisions" "$out/$traces.expected" || return 1
    done
}

# Tries one line of "$out/c.list", which is FILE TAB LINE TAB REPLACEMENT, and prints it if it lives.
try_one() {
    folder=$out/c.$1
    mutant=$(sed -n "${1}p" "$out/c.list")
    file=$(echo "$mutant" | cut -f 1) line=$(echo "$mutant" | cut -f 2) text=$(echo "$mutant" | cut -f 3-)
    mkdir "$folder"
    cp -R "$out/c.source/." "$folder/"
    TEXT=$text awk -v line="$line" 'NR == line { print ENVIRON["TEXT"]; next } { print }' \
        "$out/c.source/$file" > "$folder/$file"
    if ! "${CC:-cc}" -O1 -w -o "$folder/replay" "$folder/test/replay_confucius.c" 2>"$folder/errors"; then
        fate=unbuilt
    elif agrees "$folder/replay"; then
        fate=alive
    else
        fate=dead
    fi
    rm -rf "$folder"
    echo "$fate $file:$line: $(sed -n "${line}p" "$out/c.source/$file" | tr -s '\t ' ' ')  ->  $(echo "$text" | tr -s '\t ' ' ')"
}

mutate_c() {
    rm -rf "$out"/traces "$out"/c.*
    ANALECTS_TRACES=3000 ANALECTS_TRACE_DIR=$out/traces \
        cargo test --quiet --locked -p qdisc --test it kernel_c::confucius -- --ignored > /dev/null
    for kind in trace expected; do
        cat "$out"/traces/[a-z]*."$kind" > "$out/written.$kind"
        # Most are dead after a few.
        cat "$out"/traces/[0-9][0-9]."$kind" > "$out/random.$kind"
        cat "$out"/traces/[0-9][0-9][0-9]*."$kind" > "$out/more.$kind"
    done
    mkdir -p "$out/c.source/test"
    sh kernel/copy.sh "$out/c.source" confucius
    cp kernel/test/replay_confucius.c kernel/test/lines.h kernel/test/trace_confucius.h \
        kernel/test/trace_follow.h kernel/test/replay_user.h kernel/test/replay_main.h \
        kernel/test/user.h "$out/c.source/test/"
    for file in common/flow_list.h confucius/confucius.h \
        $(sed -n 's,^#include "\(confucius_.*\)",confucius/\1,p' kernel/confucius/confucius.h); do
        awk -f scripts/mutants.awk "kernel/$file" | sed "s|^|$file	|"
    done > "$out/c.list"
    total=$(wc -l < "$out/c.list")
    seq "$total" | xargs -P "$jobs" -n 20 sh "$0" --try > "$out/c.fates"
    sed -n 's/^alive //p' "$out/c.fates" | sort -V > "$out/c.survivors"
    echo "mutants of the core in C: $(grep -c '^dead' "$out/c.fates") dead," \
        "$(grep -c '^unbuilt' "$out/c.fates" || true) do not compile, alive:"
    cat "$out/c.survivors"
    # Lines move; what stands in them stays.
    sed 's/:[0-9]*: /: /' "$out/c.survivors" | LC_ALL=C sort -u > "$out/c.alive"
    grep -v '^#' kernel/test/mutants-alive.txt | LC_ALL=C sort -u | LC_ALL=C comm -23 "$out/c.alive" - > "$out/c.new"
    if [ -s "$out/c.new" ]; then
        echo "mutants: error: these live, and kernel/test/mutants-alive.txt does not know them:" >&2
        cat "$out/c.new" >&2
        return 1
    fi
}

mutate_rust() {
    PATH="$PATH:$root/target/tools/bin"
    command -v cargo-mutants > /dev/null ||
        cargo install --quiet --locked cargo-mutants --root target/tools
    # Fewer traces than usual for each mutant; SHARD=1/8 tries one part of eight.
    ANALECTS_TRACES=300 cargo mutants --package qdisc --file 'crates/core/qdisc/src/confucius/**' \
        --exclude-re 'fmt::Display' --jobs "$jobs" ${SHARD:+--shard "$SHARD"} --output "$out/rust" \
        --no-shuffle -- --lib --test it || [ $? -eq 2 ] # 2: some live
    echo "mutants of the discipline in Rust that live:"
    cat "$out/rust/mutants.out/missed.txt"
}

if [ "${1:-}" = --try ]; then
    shift
    for number; do try_one "$number"; done
    exit
fi
for part in ${*:-c rust}; do "mutate_$part"; done
