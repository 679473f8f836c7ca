#!/bin/sh
# The commands that our scripts give to tc and ip, compared with expected.txt. Changes no
# network: tc and ip are echoes. SQM_SCRIPTS may name the src folder of a copy of sqm-scripts,
# whose own functions are then used.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for command in tc ip; do
    # Both write where the test looks, since sqm keeps their output to itself.
    printf '#!/bin/sh\necho "%s $*" >> "%s/said"\n' "$command" "$work" > "$work/$command"
    chmod +x "$work/$command"
done

mkdir "$work/lib"
cp "${SQM_SCRIPTS:-sqm}"/*.sh "$work/lib"
for discipline in mencius confucius floq; do cp ../discipline.qos "$work/lib/$discipline.qos"; done
shell=${SQM_SHELL:-sh}

# start DISCIPLINE NAME VARIABLE=VALUE...: what sqm would run with these settings.
start() {
    discipline=$1
    echo "== $1 $2"
    shift 2
    : > "$work/said"
    # The shell reads its variables itself, and may be two words.
    # shellcheck disable=SC2016,SC2086
    env "$@" IFACE=eth9 DEV=ifb4eth9 SCRIPT="$discipline.qos" SQM_LIB_DIR="$work/lib" \
        SQM_STATE_DIR="$work" SQM_SYSLOG=0 SQM_VERBOSITY_MAX=1 INSMOD=true \
        TC_BINARY="$work/tc" IP_BINARY="$work/ip" IPTABLES_BINARY=true IP6TABLES_BINARY=true \
        $shell -c '. "$SQM_LIB_DIR/functions.sh"; . "$SQM_LIB_DIR/defaults.sh"
            . "$SQM_LIB_DIR/$SCRIPT"; get_mtu() { echo 1500; }; sqm_start_default' \
        > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    # sqm's own trials of a qdisc have a device of their own.
    grep -v 'SQM_IFB_' "$work/said"
}

{
    start confucius both UPLINK=20000 DOWNLINK=100000
    start confucius options UPLINK=5000 DOWNLINK=0 ELIMIT=300 EECN=NOECN LINKLAYER=ethernet OVERHEAD=44 \
        EQDISC_OPTS="doubling 500ms head_start 1"
    start confucius download UPLINK=0 DOWNLINK=50000 ILIMIT=2000 IQDISC_OPTS="targets 10/90"
    start mencius both UPLINK=20000 DOWNLINK=100000
    start mencius options UPLINK=5000 DOWNLINK=0 ELIMIT=300 EECN=NOECN LINKLAYER=ethernet OVERHEAD=44 \
        EQDISC_OPTS="min_wait 30ms"
    start mencius target UPLINK=0 DOWNLINK=50000 IQDISC_OPTS="target 8ms"
    start floq both UPLINK=20000 DOWNLINK=100000
    start floq options UPLINK=5000 DOWNLINK=0 ELIMIT=300 EECN=NOECN LINKLAYER=ethernet OVERHEAD=44 \
        EQDISC_OPTS="initial 30"
} > "$work/commands"

diff expected.txt "$work/commands"
echo "sqm: the commands are those expected"
