#!/bin/sh
# Compiles dumbbell.cc with the packaged ns-3 into target/ns3/.
# Exit code 3: there is no ns-3 here, skip the comparison.
set -eu
cd "$(dirname "$0")/../.."

header=/usr/include/ns3/core-module.h
if [ ! -e "$header" ]; then
    echo "ns-3 is not installed: comparison skipped (Debian: apt install libns3-dev)" >&2
    exit 3
fi

source=bench/ns3/dumbbell.cc
program=target/ns3/dumbbell
if [ -e "$program" ] && [ -z "$(find "$source" "$header" -newer "$program")" ]; then
    exit 0
fi

# Named directly: Debian's ns3-*.pc files give the include folder as "/usr;".
libraries='-lns3-core -lns3-network -lns3-internet -lns3-traffic-control
           -lns3-point-to-point -lns3-applications'
mkdir -p target/ns3
# shellcheck disable=SC2086
"${CXX:-g++}" -std=c++17 -O3 -Wall -Wextra -o "$program" "$source" $libraries
