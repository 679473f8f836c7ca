#!/bin/sh
# Builds the static programs that test the qdisc inside a test kernel into a directory.
# usage: scripts/kernel-test-programs.sh DIRECTORY
set -eu
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$(dirname "$0")/../kernel/test"
build() { # PROGRAM SOURCES...
    program=$1
    shift
    "${CC:-cc}" -static -O2 -Wall -Wextra -Werror -o "$to/$program.new" "$@"
    mv "$to/$program.new" "$to/$program"
}
build netlink_fuzz netlink_fuzz.c fuzz_shapes.c nl.c settings.c subject.c
build churn churn.c churn_faults.c churn_scan.c bed.c frames.c nl.c settings.c subject.c
build dump dump.c nl.c
build poweroff poweroff.c
build send ../tc/tests/send.c
build odd odd.c
build tagged tagged.c
build flows flows.c nl.c
