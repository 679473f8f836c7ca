#!/bin/sh
# The functions of sqm-scripts that confucius.qos calls, reduced to what the test needs: the
# order in which sqm starts a script, and the strings that tc gets.

sqm_warn() { echo "warning: $*"; }
do_modules() { echo "modules for $QDISC"; }
verify_qdisc() { echo "verify $1"; }

get_stab_string() {
    [ "$LINKLAYER" = none ] ||
        echo "stab mtu 2047 tsize 512 mpu 0 overhead $OVERHEAD linklayer $LINKLAYER"
}

get_htb_adsll_string() { :; }

# Bytes in US microseconds at KBIT, at least a packet in ATM cells: get_burst of sqm.
get_burst() {
    bytes=$(($2 * $3 / 8000))
    # Whole cells, so that the rounding is meant.
    # shellcheck disable=SC2017
    least=$((($(get_mtu "$1") + 48 + 47) / 48 * 53))
    [ "$bytes" -ge "$least" ] || bytes=$least
    echo "$bytes"
}

get_htb_quantum() { get_burst "$1" "$2" "$3"; }
get_htb_burst() { echo "burst $(get_burst "$1" "$2" "$3") cburst $(get_burst "$1" "$2" "$3")"; }

sqm_start_default() {
    sqm_prepare_script || return 1
    if [ "$UPLINK" -ne 0 ]; then
        egress || return 1
    else
        $TC qdisc del dev "$IFACE" root
    fi
    if [ "$DOWNLINK" -ne 0 ]; then
        ingress
    else
        $TC qdisc del dev "$DEV" root
        $TC qdisc del dev "$IFACE" ingress
    fi
}
