#!/bin/sh
# What sqm-scripts' defaults.sh sets, as far as confucius.qos uses it.
# shellcheck disable=SC2034
: "${EECN:=ECN}" "${IECN:=ECN}" "${LINKLAYER:=none}" "${OVERHEAD:=0}"
: "${ESHAPER_BURST_DUR_US:=1000}" "${ISHAPER_BURST_DUR_US:=1000}"
: "${ESHAPER_QUANTUM_DUR_US:=1000}" "${ISHAPER_QUANTUM_DUR_US:=1000}"
: "${TC:=$TC_BINARY}" "${IP:=$IP_BINARY}"
