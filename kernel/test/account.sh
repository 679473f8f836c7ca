# shellcheck shell=sh disable=SC2034,SC2154
# For the tests in guests; sourced, after `test` says whose words they are and `discipline` which qdisc
# is meant.

wrong() {
    echo "$test: FAIL: $*"
    exit 1
}
# expect WHAT HAVE WANT
expect() {
    [ "$2" = "$3" ] || wrong "$1: $2, expected $3"
    echo "$test: $1: $2"
}

# account DEVICE SENT: what was sent, dropped and is waiting must be what came. A dump reads what waits
# before what was sent, and a packet may leave in between: then it is asked again.
account() {
    for _ in 1 2 3 4 5; do
        stats=$(tc -s qdisc show dev "$1" | grep -A 2 "qdisc $discipline" | tr '\n' ' ')
        sent=$(echo "$stats" | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p')
        dropped=$(echo "$stats" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
        waiting=$(echo "$stats" | sed -n 's/.*backlog [0-9KMb]* \([0-9]*\)p.*/\1/p')
        peeked=0
        if [ "$waiting" != 0 ] && tc qdisc show dev "$1" | grep -q '^qdisc tbf'; then
            peeked=1 # what tbf has looked at counts as sent, and waits (qdisc_peek_dequeued)
        fi
        [ "$2" != $((sent + dropped + waiting - peeked)) ] || break
    done
    echo "$test: $1: $2 came, $sent sent, $dropped dropped, $waiting waiting"
    [ "$2" = $((sent + dropped + waiting - peeked)) ] || wrong "packets were lost on $1: $stats"
}

# charged COUNT SEGMENTS SETTINGS...: bytes and packets that a shaper with cells of ATM charges d0 for
# COUNT super-packets of SEGMENTS parts of 1448 bytes, above the discipline with these settings.
charged() {
    count=$1 segments=$2
    shift 2
    tc qdisc add dev d0 root handle 1: stab linklayer atm overhead 44 htb default 1
    tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514
    tc qdisc add dev d0 parent 1:1 handle 10: "$discipline" "$@"
    "$send" d0 "$count" 1448 1 "$segments"
    sleep 1
    tc -s class show dev d0 | awk '$3 == "1:1" { mine = 1 } mine && /Sent/ { print $2, $4; exit }'
    tc qdisc del dev d0 root
}
