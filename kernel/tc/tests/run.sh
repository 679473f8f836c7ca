#!/bin/sh
# Runs the compiled cases, each in a network namespace of its own, and prints TAP.
#   sh run.sh cases.sh [ID...]
# Needs root, ip, tc (TC names another), unshare, grep, send.c built as ./send; the module loaded
# or loadable.
# A case finds a dummy device $DUMMY and a veth pair $DEV0 and $DEV1, all up.
set -u

cases=$(realpath "$1")
# shellcheck source=/dev/null
. "$cases"
cd "$(dirname "$0")" || exit 1

# By their paths: busybox would take its own.
TC=${TC:-$(which tc)}
IP=${IP:-$(which ip)}
export TC IP DUMMY=dummy1 DEV0=v0p0 DEV1=v0p1

wrong() {
    printf '%s\n' "$1" | sed 's/^/# /'
    exit 1
}

# step WHERE "CODES" COMMAND
step() {
    out=$(eval "$3" 2>&1)
    code=$?
    for wanted in $2; do
        [ "$code" = "$wanted" ] && return
    done
    wrong "$1: $3
exit code $code, expected $2
$out"
}

# under_test CODE COMMAND
under_test() {
    out=$(eval "$2" 2>&1)
    code=$?
    [ "$code" = "$1" ] || wrong "$2
exit code $code, expected $1
$out"
}

# verify COUNT PATTERN COMMAND
verify() {
    out=$(eval "$3" 2>&1)
    count=$(printf '%s\n' "$out" | grep -oE -e "$2" | wc -l)
    [ "$count" -eq "$1" ] || wrong "$3
$count matches of $2, expected $1
$out"
}

devices() {
    step devices 0 "$IP link set lo up"
    step devices 0 "$IP link add $DUMMY type dummy"
    step devices 0 "$IP link add $DEV0 type veth peer name $DEV1"
    for device in $DUMMY $DEV0 $DEV1; do
        step devices 0 "$IP link set $device up"
    done
}

# One case, already inside its namespace.
if [ "${2:-}" = --inside ]; then
    devices
    "case_$3"
    exit 0
fi

shift
number=0
failed=0
while read -r id name; do
    case " $* " in
        "  " | *" $id "*) number=$((number + 1)) ;;
        *) continue ;;
    esac
    if unshare -n sh "$(basename "$0")" "$cases" --inside "$id"; then
        echo "ok $number - $id $name"
    else
        echo "not ok $number - $id $name"
        failed=$((failed + 1))
    fi
done <<END
$(all_cases)
END
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
