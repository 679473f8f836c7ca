#!/bin/sh
# `analects link` with real programs: rate and round trip, TCP with checksums, ICMP and the MTU, IPv4 and
# IPv6, links in series, plain users, servers of the host and of --far, logs and captures, the Internet through the
# link, scenarios over real sockets, status and signals, scheduling, and the remains when it is killed. In a network namespace of its own, never in the host's.
#
#   test-link.sh [ANALECTS]
set -eu

missing() {
    echo "test-link: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in ip unshare setpriv ping iperf3 python3 nft iptables slirp4netns; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux iputils-ping iperf3 python3 nftables iptables slirp4netns
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-link: $analects cannot be run" >&2; exit 1; }
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnm true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnm fails"
    # As root where that can be: its real-time class keeps times on a busy machine.
    [ "$(id -u)" != 0 ] || exec unshare -nm sh "$0" --inside "$analects"
    exec unshare -Urnm sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-link.XXXXXX")
. scripts/assertions.sh
near=100.64.0.1
servers=

end() {
    for server in $servers; do kill -9 "$server" 2>/dev/null || true; done
    rm -rf "$work"
}
trap end EXIT
fail() {
    echo "test-link: FAILED: $1" >&2
    for file in out err; do sed "s/^/    $file: /" "$work/$file" >&2 2>/dev/null || true; done
    exit 1
}
# link ARGUMENTS...: standard output and error are kept.
link() {
    "$analects" link "$@" >"$work/out" 2>"$work/err"
}
host() {
    ip -o link | sed 's/ *\\.*//'
    ip -o address
    ip route show table all
    ip -6 route show table all
    nft list ruleset 2>/dev/null || true
}
# The least round trip that ping saw, in ms.
least() {
    sed -n 's,^rtt min/avg/max/mdev = \([0-9.]*\)/.*,\1,p' "$work/out"
}

ip link set lo up
host >"$work/before"

link --rtt 40ms --down 20mbit --up 20mbit -- ping -c 10 -i 0.1 $near || fail "ping"
between "round trip" "$(least)" 40.0 41.0
link --rtt 40ms -- ping -6 -c 10 -i 0.1 fd61:6e61:6c65:6374::1 || fail "ping over IPv6"
between "round trip over IPv6" "$(least)" 40.0 41.0
passed "the round trip is that of the model, IPv4 and IPv6"

# Many servers have IPv6 switched off. The far side is a network of its own, which has it all the same.
for side in "" --host; do
    unshare -n sh -c 'ip link set lo up
        for which in all default; do echo 1 >/proc/sys/net/ipv6/conf/$which/disable_ipv6; done
        exec "$0" link $2 --rtt 40ms --json "$1" -- ping -c 5 -i 0.1 100.64.0.1' \
        "$analects" "$work/json" "$side" >"$work/out" 2>"$work/err" || fail "a host without IPv6 $side"
    case $side in
        "") grep -q '"ipv6": true' "$work/json" || fail "no IPv6 in a network of its own" ;;
        *)
            grep -q 'IPv6 switched off (net.ipv6.conf.default.disable_ipv6)' "$work/err" || fail "no word on IPv6"
            grep -q '"ipv6": false' "$work/json" || fail "JSON does not say that there was no IPv6"
            ;;
    esac
done
passed "a host with IPv6 switched off has links; with --host they are of IPv4, and that is told"

# As Starlink and other lines behind carriers' NAT: the host's gateway has the link's address, and goes on with it.
unshare -n sh -c 'ip link set lo up
    ip link add w0 type veth peer name w1
    unshare -n sleep 60 & there=$!
    until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
    ip link set w1 netns $there
    nsenter -t $there -n sh -c "ip address add 100.64.0.1/10 dev w1 && ip link set w1 up"
    ip address add 100.90.1.2/10 dev w0 && ip link set w0 up && ip route add default via 100.64.0.1
    : >"$1"
    "$0" link --rtt 40ms -- sh -c "echo ready; ping -c 5 -i 0.5 \$ANALECTS_FAR" >>"$1" 2>&1 & link=$!
    until grep -q ready "$1"; do sleep 0.1; done
    ping -c 3 -i 0.2 -W 1 -q 100.64.0.1 | grep -q " 0% packet loss" || status=4
    "$0" link --host -- sh -c "ping -c 1 -W 1 \$ANALECTS_FAR" >>"$1" 2>&1 || status=5
    wait $link || status=6
    kill $there
    exit ${status:-0}' "$analects" "$work/out" 2>"$work/err" || fail "behind carriers' NAT: $?"
between "round trip behind carriers' NAT" "$(least | tail -n 1)" 40.0 41.0
grep -q 'this host has 100.64.0.1 elsewhere' "$work/out" || fail "--host takes the gateway's address"
passed "a host whose gateway is 100.64.0.1 keeps it, with a link and with --host"

# The MTU is 1500: 20 bytes of IP, 8 of ICMP. A segment that is too long causes an error.
link -- ping -c 1 -M do -s 1472 $near || fail "a packet of 1500 bytes"
if link -- ping -c 1 -M do -s 1473 $near; then fail "a packet of 1501 bytes passes"; fi
cat "$work/out" "$work/err" | grep -q 'mtu=1500' || fail "no word on the MTU"
link -- ping -c 2 -i 0.1 -s 5000 $near || fail "fragments"
link -- ping -6 -c 2 -i 0.1 -s 5000 fd61:6e61:6c65:6374::1 || fail "fragments over IPv6"
passed "the MTU, and fragments"

cat >"$work/refused.py" <<'P'
import socket, sys
near = sys.argv[1]
try:
    socket.create_connection((near, 9), 5)
except ConnectionRefusedError:
    pass
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.connect((near, 9))
udp.settimeout(5)
udp.send(b"x")
try:
    udp.recv(1)
except ConnectionRefusedError:
    sys.exit(0)
sys.exit(1)
P
link --rtt 10ms -- python3 "$work/refused.py" $near || fail "what is refused is not told"
passed "what is refused is told, by TCP's reset and by ICMP"

# rate DISCIPLINE FAMILY ADDRESS DIRECTION
# By Cubic: a host's own control may be BBR, which empties the queue in between. By four flows: one alone, cut by
# a discipline that keeps its queue below the link's 50 kB, leaves the link idle until its window has grown again.
# A run that the link itself does not believe, since the host was busy, is made again, up to three times.
rate() {
    iperf3 -s -p 5201 >/dev/null 2>&1 &
    servers=$!
    sleep 0.5
    for _ in 1 2 3; do
        link --host -d "$1" --down 20mbit --up 20mbit --rtt 20ms --json "$work/json" -- \
            iperf3 "$2" -c "$3" $4 -P 4 -C cubic -t 4 -O 2 -f k -J || fail "iperf3 with $1"
        grep -q 'not to be believed' "$work/err" || break
    done
    kill $servers
    wait $servers 2>/dev/null || true
    servers=
    python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["end"]["sum_received"]["bits_per_second"] / 1e6)' "$work/out"
}
# 1448 bytes of a packet of 1500, 1428 with the header of IPv6. Behind a full queue the rate is the link's own.
between "pfifo, IPv4, down" "$(rate pfifo -4 $near -R)" 19.1 19.4
between "pfifo, IPv6, up" "$(rate pfifo -6 fd61:6e61:6c65:6374::1 "")" 18.8 19.1
for discipline in fq_codel cake confucius mencius; do
    between "$discipline, IPv4, down" "$(rate $discipline -4 $near -R)" 18.5 19.4
done
passed "TCP has the rate of the link"

# Super-packets, checksums that the kernel leaves to the device, and segments that are cut here.
head -c 30000000 /dev/urandom >"$work/file"
sum=$(sha256sum <"$work/file")
cat >"$work/serve.py" <<'P'
import socket, sys
data = open(sys.argv[1], "rb").read()
listener = socket.create_server(("::", 5300), family=socket.AF_INET6, dualstack_ipv6=True)
while True:
    connection, _ = listener.accept()
    try:
        connection.sendall(data)
    except OSError:
        pass
    connection.close()
P
cat >"$work/fetch.py" <<'P'
import hashlib, socket, sys
connection = socket.create_connection((sys.argv[1], 5300))
digest = hashlib.sha256()
while data := connection.recv(1 << 16):
    digest.update(data)
print(digest.hexdigest(), " -")
P
# Where packets are cut by the link, and joined again.
printf '%s\n' '0 100' '0.3 2' '0.4 300' '0.7 0' '0.75 100' '1 100' >"$work/dips"
python3 "$work/serve.py" "$work/file" &
servers=$!
sleep 1
for address in $near fd61:6e61:6c65:6374::1; do
    for options in "" "--down 2gbit" "--down 100mbit -d fq_codel" "--down 200mbit --loss 0.5% -d cake" \
        "--down $work/dips --loss 0.1% -d fq_codel"; do
        # shellcheck disable=SC2086 # words
        link --host $options --rtt 2ms -- python3 "$work/fetch.py" "$address" || fail "a transfer with $options"
        [ "$(cat "$work/out")" = "$sum" ] || fail "what came with $options is not what was sent"
    done
done
kill $servers
servers=
passed "what is fetched is what was sent, at any speed and with losses"

# Every packet of a capture has the checksums that its receiver expects, whoever finished them.
cat >"$work/capture.py" <<'P'
import struct, sys
def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total
data = open(sys.argv[1], "rb").read()
assert struct.unpack("<I", data[:4])[0] == 0xa1b23c4d
at, tcp = 24, 0
while at < len(data):
    _, _, there, length = struct.unpack("<4I", data[at:at + 16])
    packet = data[at + 16:at + 16 + there]
    assert there == length == len(packet), (there, length)
    at += 16 + there
    if packet[0] >> 4 == 4:
        assert checksum(packet[:20]) == 0xffff, packet[:20].hex()
        if packet[9] == 6:
            pseudo = packet[12:20] + struct.pack(">2H", 6, length - 20)
            assert checksum(pseudo + packet[20:]) == 0xffff, "TCP"
            tcp += 1
print(tcp)
P
cat >"$work/log.py" <<'P'
import csv, sys
lines = list(csv.DictReader(open(sys.argv[1])))
decisions = {line["decision"] for line in lines}
assert decisions >= {"sent", "dropped"} <= decisions | {"lost", "marked"}, decisions
assert {line["link"] for line in lines} == {"down", "up"}
for line in lines:
    assert abs(1e3 * (float(line["out_s"]) - float(line["in_s"])) - float(line["sojourn_ms"])) < 1e-3
    assert (line["reason"] != "") == (line["decision"] == "dropped"), line
data = [line for line in lines if line["source"] == "100.64.0.1:5300"]
assert data and all(line["carrier"] == "tcp" and line["link"] == "down" for line in data)
bits = 8 * sum(int(line["size_bytes"]) for line in data if line["decision"] != "dropped")
assert bits > 8 * 30e6, bits
P
link --down 200mbit --up 20mbit --rtt 10ms --buffer 60p --log "$work/log" --pcap "$work/pcap" \
    --far "exec python3 '$work/serve.py' '$work/file'" -- \
    sh -c "sleep 1; exec python3 '$work/fetch.py' $near" || fail "a transfer that is recorded"
[ "$(cat "$work/out")" = "$sum" ] || fail "what is recorded is not what was sent"
got=$(python3 "$work/capture.py" "$work/pcap" 2>>"$work/err") || fail "the capture"
between "packets of TCP in the capture" "$got" 1000 1000000
python3 "$work/log.py" "$work/log" 2>>"$work/err" || fail "the log"
link --down "$work/dips" --up 20mbit --rtt 10ms --pcap "$work/pcap" --far "exec python3 '$work/serve.py' '$work/file'" -- \
    sh -c "sleep 1; exec python3 '$work/fetch.py' $near" || fail "a transfer over a trace that is recorded"
got=$(python3 "$work/capture.py" "$work/pcap" 2>>"$work/err") || fail "the capture of a trace"
# 20,719 segments of 1448 bytes: each is a packet.
between "packets of TCP in the capture of a trace" "$got" 20719 1000000
if link --log "$work/x" --pcap "$work/x" -- true; then fail "one file for both"; fi
if link --log /no/such/file -- true; then fail "a file that cannot be written"; fi
passed "a log and a capture have each packet; a command at the far side"

# What a line carries, by the headers of real TCP whose queue stands in it. A server for each way: between two clients
# iperf3's closes its socket, and resets who comes then.
cat >"$work/found.py" <<'P'
import json, re, statistics, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for way, mbit in ("down", 20), ("up", 5):
    own = [line for line in lines if line["way"] == way]
    assert own[0]["told_by"] == "nothing", own[0]
    queues = [line for line in own if line["told_by"] == "time stamps of passing TCP" and line["reason"] == "queue"]
    carried = [re.search("carries ([0-9.]+) Mbit", line["why"]) for line in queues]
    carried = statistics.median(float(found[1]) for found in carried if found)
    assert 0.85 < carried / mbit < 1.15, (way, carried)
    assert all(line["rate_bps"] < 1e6 * mbit for line in queues[1:]), queues
P
cat >"$work/followed.sh" <<'P'
device=$(ip -o route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p')
"$2" autorate --dev "$device" --observe --json >"$3" & observer=$!
sleep 0.5
iperf3 -c "$1" -C cubic -t 6 -R >/dev/null && iperf3 -c "$1" -p 5202 -C cubic -t 6 >/dev/null || exit 1
kill -INT $observer && wait $observer || exit 1
ip tuntap add dev line mode tun && ip link set line up
"$2" autorate --dev line --observe >/dev/null & observer=$!
sleep 0.5; ip link del line; sleep 1.5
ip tuntap add dev line mode tun && ip link set line up
sleep 1.5
kill -INT $observer && wait $observer || exit 1
ip link del line
if "$2" autorate --dev nowhere --observe; then exit 1; fi
P
link --down 20mbit --up 5mbit --rtt 40ms --buffer 500p --far "iperf3 -s & exec iperf3 -s -p 5202" -- \
    sh -c "sleep 0.5; exec sh '$work/followed.sh' $near '$analects' '$work/json'" || fail "autorate --observe"
python3 "$work/found.py" "$work/json" 2>>"$work/err" || fail "what autorate finds that a line carries"
grep -q 'line is not there' "$work/err" && grep -q 'line is there again' "$work/err" || fail "a device that comes back"
grep -q 'no device nowhere' "$work/err" || fail "a device that there is not"
passed "autorate finds what a line carries both ways by passing TCP, and its device when it comes back"

# On a terminal of script(1): what is drawn names the download, its class and its share.
script -qec "'$analects' link --watch -d confucius --down 20mbit --rtt 10ms \\
    --far \"exec python3 '$work/serve.py' '$work/file'\" -- \\
    sh -c 'sleep 1; timeout 4 python3 $work/fetch.py $near'" "$work/drawn" >/dev/null 2>&1 || true
tr -d '\r' <"$work/drawn" >"$work/out"
grep -q '^down .* Mbit/s .* wait ' "$work/out" || fail "nothing is drawn"
grep -Eq ' (9[0-9]|100) % .* ms  [[:alnum:]]+ +100.64.0.1:5300 > 100.64.0.2:' "$work/out" ||
    fail "the download and its class are not drawn"
if link --watch -- true; then fail "a file is taken for a terminal"; fi
if link --watch=/no/such/terminal -- true; then fail "a terminal that is not there"; fi
passed "the live view"

# A plain user has no rights but those of its own namespaces.
plain() {
    unshare -U --map-user=1000 --map-group=1000 "$analects" link "$@" >"$work/out" 2>"$work/err"
}
plain --rtt 30ms -- ping -c 5 -i 0.1 $near || fail "ping as a plain user"
between "round trip of a plain user" "$(least)" 30.0 31.0
for address in $near fd61:6e61:6c65:6374::1; do
    plain --down 200mbit --rtt 2ms --far "exec python3 '$work/serve.py' '$work/file'" -- \
        sh -c "sleep 1; exec python3 '$work/fetch.py' $address" || fail "a transfer as a plain user"
    [ "$(cat "$work/out")" = "$sum" ] || fail "what a plain user gets is not what was sent"
done
passed "a plain user, with a server at the far side"

# The outside world is another namespace, behind the only route of this one.
host >"$work/inner"
unshare -n sleep 600 &
world=$!
servers=$world
until [ "$(readlink /proc/$world/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
ip link add wan type veth peer name world
ip link set world netns $world
ip address add 192.0.2.1/24 dev wan
ip link set wan addrgenmode none up
nsenter -t $world -n sh -c 'ip link set lo up && ip link set world addrgenmode none up &&
    ip address add 192.0.2.2/24 dev world && ip address add 198.51.100.1/32 dev lo'
ip route add default via 192.0.2.2
nsenter -t $world -n python3 "$work/serve.py" "$work/file" &
servers="$servers $!"
sleep 1
host >"$work/wired"
for user in link plain; do
    $user --internet --down 200mbit --rtt 20ms -- python3 "$work/fetch.py" 198.51.100.1 ||
        fail "$user does not reach the outside"
    [ "$(cat "$work/out")" = "$sum" ] || fail "what came from outside is not what was sent"
done
if [ -e /etc/resolv.conf ]; then
    before=$(cat /etc/resolv.conf)
    link --internet -- cat /etc/resolv.conf || fail "no resolver"
    [ "$(cat "$work/out")" = "nameserver 10.0.2.3" ] || fail "names are not resolved through the link"
    [ "$(cat /etc/resolv.conf)" = "$before" ] || fail "the host's resolver is changed"
fi
host >"$work/now"
cmp -s "$work/wired" "$work/now" || { diff "$work/wired" "$work/now" >"$work/err" || true; fail "--internet leaves something"; }
"$analects" link --internet -- sh -c 'echo ready; sleep 60' >"$work/out" 2>"$work/err" &
running=$!
until grep -q ready "$work/out"; do sleep 0.1; done
kill -9 $running
wait $running 2>/dev/null || true
tries=0
while pgrep -f 'slirp4netns --configure' >/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || fail "the translator outlives a kill -9"
    sleep 0.1
done
for server in $servers; do kill -9 "$server" 2>/dev/null || true; done
wait 2>/dev/null || true
servers=
until ! ip link show wan >/dev/null 2>&1; do sleep 0.1; done
host >"$work/now"
cmp -s "$work/inner" "$work/now" || { diff "$work/inner" "$work/now" >"$work/err" || true; fail "the outside is left"; }
passed "the Internet through the link, as root and as a plain user; nothing is left of it"

# ends STATUS ARGUMENTS...
ends() {
    expected=$1 found=0
    shift
    link "$@" || found=$?
    [ $found = "$expected" ] || fail "link $*: status $found, not $expected"
}
ends 7 -- sh -c 'exit 7'
ends 127 -- /no/such/command
grep -q 'cannot be run' "$work/err" || fail "no word on the command"
ends 127 -- no-such-command
printf 'no program' >"$work/text"
ends 126 -- "$work/text"
ends 126 -- "$work"
chmod +x "$work/text"
printf '#!/no/such/interpreter\n' >"$work/text"
ends 127 -- "$work/text"
for signal in 2 3 9 10 15; do
    ends $((128 + signal)) -- sh -c "kill -$signal \$\$"
done
ends 125 --far-ready 5300 -- true
ends 125 --nonsense -- true
passed "status: the command's own, 126 and 127, 128 and a signal, 125 for the link itself"

cat >"$work/signals.py" <<'P'
import os, pty, signal, subprocess, sys, time
link = [sys.argv[1], "link", "--"]
trap = "trap 'echo got; exit 9' %s; echo ready; while :; do sleep 0.05; done"
for name in "INT", "QUIT", "USR1", "USR2", "HUP", "TERM", "WINCH":
    child = subprocess.Popen([*link, "sh", "-c", trap % name], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n", name
    child.send_signal(signal.Signals["SIG" + name])
    assert (child.stdout.read(), child.wait()) == ("got\n", 9), name
# Without a trap it ends the command, which so has no signal blocked or ignored.
for name in "INT", "QUIT", "USR1", "TERM":
    child = subprocess.Popen([*link, "sh", "-c", "echo ready; exec sleep 9"], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n", name
    child.send_signal(signal.Signals["SIG" + name])
    assert child.wait() == 128 + signal.Signals["SIG" + name], name
# What nohup has ignored stays so.
child = subprocess.run(["nohup", *link, "grep", "SigIgn", "/proc/self/status"], stdout=subprocess.PIPE, text=True)
assert int(child.stdout.split()[1], 16) & 1, child.stdout
# A terminal sends Ctrl-C to both: it comes once.
counts = """import signal, time
signals = []
signal.signal(signal.SIGINT, lambda *_: signals.append(1))
print("ready", flush=True)
end = time.monotonic() + 1
while time.monotonic() < end: time.sleep(0.05)
print(f"{len(signals)} signals", flush=True)"""
pid, terminal = pty.fork()
if pid == 0:
    os.execv(link[0], [*link, sys.executable, "-c", counts])
said = b""
try:
    while data := os.read(terminal, 4096):
        if b"ready" in data:
            os.write(terminal, b"\x03")
        said += data
except OSError:
    pass
assert b"1 signals" in said, said
P
python3 "$work/signals.py" "$analects" >"$work/out" 2>"$work/err" || fail "signals"
passed "signals to the link alone reach the command, once; a terminal's are not doubled"

ends 0 --far 'sleep 0.3; exit 3' --json "$work/json" -- sleep 1
grep -q 'what --far ran ended after 0\.[0-9] s, with status 3' "$work/err" || fail "no word on the end of --far"
grep -A 3 '"far_ended": {' "$work/json" | grep -q '"status": 3' || fail "JSON does not say how --far ended"
ends 0 --far 'exec sleep 9' --json "$work/json" -- true
if grep -q 'what --far ran' "$work/err"; then fail "--far ended before the command"; fi
grep -q '"far_ended": null' "$work/json" || fail "JSON says that --far ended"
ends 125 --far 'exit 3' --far-ready 5300 -- touch "$work/began"
grep -q 'ended after 0.* with status 3' "$work/err" || fail "no word on a server that ended at once"
[ ! -e "$work/began" ] || fail "the command begins without its server"
for late in "sleep 1; exec python3 '$work/serve.py' '$work/file'" "(sleep 0.3; python3 '$work/serve.py' '$work/file') &"; do
    ends 0 --far "$late" --far-ready 5300 -- python3 "$work/fetch.py" $near
    [ "$(cat "$work/out")" = "$sum" ] || fail "a server that is slow to begin"
done
passed "--far tells when it ended; with --far-ready the command waits for it"

# The class of the packets' thread is what the summary says, and real-time where that is permitted: to root, and by a
# limit that only some may set here. policy(41) of proc_pid_stat(5) is 2 for SCHED_RR.
classed() {
    "$@" "$analects" link --json "$work/json" -- \
        sh -c 'sleep 0.3; sed "s/.*) //" /proc/$PPID/stat | cut -d " " -f 39' >"$work/out" 2>"$work/err" ||
        fail "a link of $*"
    if "$@" chrt -r 1 true 2>/dev/null; then class=SCHED_RR number=2; else class=SCHED_OTHER number=0; fi
    grep -q "\"class\": \"$class\"" "$work/json" || fail "$*: JSON has not the class $class"
    grep -qx $number "$work/out" || fail "$*: the kernel has another class than $class"
    grep -q "carried by .*$class\|carried by an ordinary.*ulimit -r" "$work/err" || fail "$*: no word on the class"
}
classed env
classed unshare -U --map-user=1000 --map-group=1000
if prlimit --rtprio=10 true 2>/dev/null; then
    classed prlimit --rtprio=10 unshare -U --map-user=1000 --map-group=1000
    [ $class = SCHED_RR ] || fail "no real-time class by its limit"
fi
grep -q '"believed": true' "$work/json" || grep -q '"doubt": "this host was too slow' "$work/json" ||
    fail "JSON does not say whether to believe it"
passed "the packets' thread has a real-time class where the limit permits it, and says which"

for bad in "--down 5" "--down /no/file" "--rtt 2h" "--loss 2" "--buffer x" "-d nonsense" "-d pfifo,limit=0"; do
    # shellcheck disable=SC2086 # words
    ends 125 $bad -- true
done
passed "nonsense is refused"

link --rtt 10ms -- "$analects" link --rtt 20ms -- ping -c 3 -i 0.1 100.64.0.5 || fail "a link in a link"
between "round trip to the link between" "$(least)" 20.0 21.0
# What is at the far side of the first is reached through all of them, as from the shells of mahimahi.
python3 "$work/serve.py" "$work/file" &
servers=$!
sleep 1
for user in link plain; do
    for address in $near fd61:6e61:6c65:6374::1; do
        $user --rtt 10ms -- "$analects" link --rtt 20ms -- "$analects" link --rtt 6ms -- \
            ping -c 5 -i 0.1 $address || fail "$user: links in series to $address"
        # A plain user's links are late on a busy machine.
        between "round trip through three links to $address" "$(least)" 36.0 100
    done
    $user --down 200mbit --far "exec python3 '$work/serve.py' '$work/file'" --far-ready 5300 -- \
        "$analects" link -d cake --down 100mbit -- python3 "$work/fetch.py" $near || fail "$user: through two links"
    [ "$(cat "$work/out")" = "$sum" ] || fail "$user: what came through two links is not what was sent"
done
link -- unshare -U --map-user=1000 --map-group=1000 "$analects" link -- true || fail "another user's second link"
grep -q 'before this one was not reached: only its root' "$work/err" || fail "no word on another user"
link --host -- "$analects" link --rtt 10ms -- python3 "$work/fetch.py" $near || fail "two links to this host"
[ "$(cat "$work/out")" = "$sum" ] || fail "what came from this host through two links is not what was sent"
kill $servers
servers=
passed "links in series, as root and as a plain user: to the first one's far side, and to this host"

# The link of a scenario: each key of [link] does to real packets what it does in the simulator.
cat >"$work/line.toml" <<'S'
disciplines = ["fq_codel"]
duration = "10s"
warmup = "4s"
link = { rate = "10mbit", rtt = "40ms", buffer = "100p", up = { rate = "5mbit" } }
traffic = [{ name = "bulk", kind = "bulk", control = "cubic" }]
S
# fetched SECONDS ARGUMENTS...: Mbit/s of iperf3 towards the command, in each of the seconds; by Cubic, and again where
# the link does not believe its run, as in rate().
fetched() {
    seconds=$1
    shift
    for _ in 1 2 3; do
        link "$@" --far 'iperf3 -s -p 5299 >/dev/null' --far-ready 5299 -- \
            iperf3 -c $near -p 5299 -R -C cubic -t "$seconds" -O 2 -J || fail "iperf3 through $*"
        grep -q 'not to be believed' "$work/err" || break
    done
    python3 -c '
import json, sys
sums = [one["sum"] for one in json.load(sys.stdin)["intervals"]]
print(*(round(one["bits_per_second"] / 1e6, 2) for one in sums if not one.get("omitted")))' \
        <"$work/out"
}
# mean NUMBERS...
mean() {
    echo "$@" | awk '{ for (i = 1; i <= NF; i++) sum += $i; print sum / NF }'
}
rates=$(fetched 5 "$work/line.toml")
grep -q 'the discipline is fq_codel, the first of' "$work/err" || fail "the scenario's discipline is not told"
"$analects" run "$work/line.toml" --repeat 1 --format json >"$work/sim" 2>"$work/err" || fail "the simulator"
simulated=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["flows"][0]["bytes"] * 8 / 6e6)' <"$work/sim")
between "rate of a scenario's link beside the simulator's $simulated" "$(mean "$rates")" \
    "$(echo "$simulated" | awk '{ print $1 * 0.94 }')" "$(echo "$simulated" | awk '{ print $1 * 1.06 }')"
between "rate with 500 bytes more on each packet" "$(mean "$(fetched 4 "$work/line.toml" --set link.overhead=500B)")" 6.7 7.5
steps=$(fetched 7 "$work/line.toml" --set 'link.steps=0s 20mbit; 4s 2mbit')
between "rate before a step" "${steps%% *}" 15 20.5
between "rate after a step" "${steps##* }" 1 2.6
link "$work/line.toml" --set link.jitter=20ms -- ping -c 40 -i 0.05 $near || fail "jitter"
between "least round trip with jitter" "$(least)" 40 56
between "greatest round trip with jitter" "$(sed -n 's,^rtt .* = [0-9.]*/[0-9.]*/\([0-9.]*\)/.*,\1,p' "$work/out")" 65 90
link "$work/line.toml" --set link.loss=20% --set link.loss_burst=5 -- ping -c 300 -i 0.01 $near || fail "bursts of loss"
between "loss both ways, in bursts" "$(sed -n 's/.*, \([0-9.]*\)% packet loss.*/\1/p' "$work/out")" 15 60
link "$work/line.toml" --set link.up.discipline=cake --set link.device=10 --up 3mbit --rtt 10ms -- ping -c 5 -i 0.1 $near ||
    fail "a device's ring, and another discipline up"
between "round trip of the option" "$(least)" 10 11
for preset in dsl docsis lte wifi starlink; do
    link --preset $preset -d cake -- ping -c 2 -i 0.1 $near || fail "preset $preset"
done
printf 'link = { rate = "5mbit" }\nlnik = 1\n' >"$work/wrong.toml"
for bad in "$work/wrong.toml" "$work/line.toml --set link.jiter=1ms" "$work/line.toml --set traffic.bulk.count=2" "--preset dls" \
    "$work/line.toml --preset dsl" "$work/line.toml --set link.autorate=drain" "$work/line.toml --set link.trace=/no/such"; do
    # shellcheck disable=SC2086 # words
    if link $bad -- true; then fail "$bad is taken"; fi
done
passed "a scenario's link: rate, overhead, steps, jitter, bursts of loss, ring, disciplines; presets"

# The engine live: a scenario's applications over real sockets, compared with the simulator.
cat >"$work/live.toml" <<'S'
disciplines = ["pfifo", "fq_codel", "confucius"]
duration = "7s"
warmup = "2s"
link = { rate = "10mbit", rtt = "40ms", buffer = "100p", up = { rate = "5mbit" } }
traffic = [
    { name = "bulk", kind = "bulk", control = "cubic" },
    { name = "call", kind = "call", control = "copa", preset = "unlimited" },
]
S
"$analects" run "$work/live.toml" --engine live --format json >"$work/out" 2>"$work/err" || fail "the engine live"
"$analects" run "$work/live.toml" --repeat 1 --format json >"$work/sim" 2>"$work/err" || fail "the simulator"
cat >"$work/beside.py" <<'P'
import json, sys
live, sim = (json.load(open(name))["results"] for name in sys.argv[1:])
for one, other in zip(live, sim, strict=True):
    use, expected = one["links"][0]["utilization"], other["links"][0]["utilization"]
    assert abs(use - expected) < 0.1, (one["discipline"], use, expected)
    waits = [flow["sojourn_ms"]["mean"] for flow in (one["flows"][0], other["flows"][0])]
    assert waits[0] < 2 * waits[1] + 5, (one["discipline"], waits)
    assert len(one["links"]) == 2 and one["links"][1]["packets"] > 100, "the uplink carried nothing"
    assert one["calls"][0]["frames"] > 100, "there was no call"
P
python3 "$work/beside.py" "$work/out" "$work/sim" 2>"$work/err" || fail "live is not what the simulator says"
if "$analects" run "$work/live.toml" --engine live --kernel 6.1 >"$work/out" 2>"$work/err"; then fail "--kernel is taken"; else
    [ $? = 2 ] || fail "--kernel is not refused"
fi
passed "the engine live runs a scenario as the simulator does"

sed 's/^disciplines/stack = "webrtc"\n&/' "$work/live.toml" >"$work/webrtc.toml"
"$analects" run "$work/webrtc.toml" --engine live >"$work/out" 2>"$work/err" && fail "stack webrtc without one"
tr -d '|\n' <"$work/err" | tr -s ' ' | grep -q 'built without a WebRTC stack' || fail "no word on the stack"
passed "a program without a WebRTC stack says so"

# A container is a root that lacks capabilities.
for lacks in sys_admin net_admin; do
    name=CAP_$(echo $lacks | tr '[:lower:]' '[:upper:]')
    if setpriv --bounding-set=-$lacks --inh-caps=-$lacks "$analects" link -- true >"$work/out" 2>"$work/err"; then
        fail "a link without $name"
    fi
    tr -d '|\n' <"$work/err" | tr -s ' ' >"$work/said"
    for words in "lacks $name" 'docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN'; do
        grep -q -e "$words" "$work/said" || fail "without $name there is no word of: $words"
    done
    if setpriv --bounding-set=-$lacks --inh-caps=-$lacks "$analects" doctor link >"$work/out" 2>"$work/err"; then
        fail "doctor finds nothing without $name"
    fi
    grep -A 1 '^LACKS' "$work/out" | grep -q "lacks $name, as in a container" || fail "doctor does not name $name"
done
"$analects" doctor link --json >"$work/out" 2>"$work/err" || fail "doctor finds that a link lacks something, but it runs"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["unfit"] == []' "$work/out" || fail "doctor's JSON"
# Docker's containers have /proc/sys for reading only: a link works, and what does not says why.
unshare -m sh -c 'mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys
    "$0" link -- sh -c "ping -c 1 \$ANALECTS_FAR && $0 link -- ping -c 1 100.64.0.5"' \
    "$analects" >"$work/out" 2>"$work/err" || fail "a container whose /proc/sys is read-only"
grep -q 'before this one was not reached: .*Read-only.*systempaths=unconfined' "$work/err" || fail "no word on /proc/sys"
passed "a capability that lacks is named, by the link and by doctor, with its remedy"

# Firewalls as people have them: the far side is in no network that they are in, and --host tells which chain drops.
# firewall NAME CHAIN: its rules are read from standard input.
firewall() {
    cat >"$work/rules"
    unshare -n sh -c 'ip link set lo up; . "$1"
        "$0" link --down 4mbit -- ping -c 1 -W 2 100.64.0.1 || exit 3
        "$0" link --host --down 4mbit -- ping -c 1 -W 1 100.64.0.1 && exit 4
        exit 0' "$analects" "$work/rules" >"$work/out" 2>"$work/err" || fail "$1: status $?"
    grep -q "nothing came back.*firewall drops.*$2" "$work/err" || fail "$1: no word on $2"
}
firewall "ufw" "ufw-not-local" <<'R'
iptables -N ufw-not-local; iptables -N ufw-before-input; iptables -A INPUT -j ufw-before-input
iptables -A ufw-before-input -i lo -j ACCEPT
iptables -A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
iptables -A ufw-before-input -j ufw-not-local; iptables -A ufw-not-local -j DROP
R
firewall "Tailscale" "ts-input" <<'R'
iptables -N ts-input; iptables -A INPUT -j ts-input
iptables -A ts-input -s 100.64.0.0/10 ! -i tailscale0 -j DROP
R
firewall "firewalld" "inet firewalld in_public" <<'R'
nft add table inet firewalld; nft "add chain inet firewalld in { type filter hook input priority 10 ; }"
nft add chain inet firewalld in_public; nft add rule inet firewalld in ct state established accept
nft add rule inet firewalld in iifname eth0 drop; nft add rule inet firewalld in goto in_public
nft add rule inet firewalld in_public tcp dport 22 accept; nft add rule inet firewalld in_public counter drop
R
firewall "a policy" "inet t in" <<'R'
nft add table inet t; nft "add chain inet t in { type filter hook input priority 0 ; policy drop ; }"
R
passed "four firewalls leave a link alone, and are named where --host meets them"

# What doctor says of one.
unshare -n sh -c 'ip link set lo up
    nft add table inet t
    nft "add chain inet t in { type filter hook input priority 0 ; policy drop ; }"
    "$0" link -- ping -c 1 -W 1 100.64.0.1 || exit 0
    if "$0" doctor link | grep "note.*inet t in"; then exec "$0" link --host -- ping -c 1 -W 1 100.64.0.1; fi' \
    "$analects" >"$work/out" 2>"$work/err" && fail "a firewall stops a link, or does not stop --host"
grep -q 'note.*inet t in' "$work/out" || fail "doctor does not name the firewall"
grep -q "nothing came back.*firewall drops.*inet t in" "$work/err" || fail "no word on the firewall"
plain -- ping -c 1 -W 1 192.0.2.77 && fail "an answer from nowhere"
grep -q "nothing came back.*network of its own" "$work/err" || fail "no word on the empty far side"
passed "where nothing comes back, the reason is told"

# Prepared hosts, each with one trouble, which doctor names; a link does what it can there.
# prepared NAME COMMANDS WORDS COMMAND [PREFIX...]: after COMMANDS in namespaces of its own doctor, by PREFIX, says WORDS
# about COMMAND.
prepared() {
    name=$1 words=$3 about=$4
    commands="ip link set lo up; $2"
    shift 4
    unshare -nm sh -c "$commands"' || exit 9
        work=$1 about=$2; shift 2
        "$@" "$0" doctor "$about" >"$work/doctor"; echo $? >"$work/unfit"
        "$@" "$0" link --down 4mbit -- ping -c 1 -W 2 100.64.0.1' "$analects" "$work" "$about" "$@" \
        >"$work/out" 2>"$work/err" && linked=yes || linked=no
    grep -A 1 -e '^LACKS' -e '^note' "$work/doctor" >"$work/out" || true
    [ -z "$words" ] || grep -q -e "$words" "$work/out" || fail "doctor on a host with $name says no word of: $words"
}
prepared "IPv6 switched off" "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
    echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6" "IPv6 is switched off" link
[ "$(cat "$work/unfit")$linked" = 0yes ] || fail "without IPv6 there is no link"
prepared "carriers' NAT" "ip link add wan type veth peer name isp; ip link set wan up; ip link set isp up; ip address add 100.64.0.7/10 dev wan
    ip route add default via 100.64.0.1" "100.64.0.1 is this host's own or its gateway's" link
[ "$(cat "$work/unfit")" = 0 ] || fail "behind carriers' NAT a link is said to lack something"
# As in a container: root may not make the node that is not there. Where it may, it does.
prepared "no TUN" "mount -t tmpfs none /dev/net" "there is no /dev/net/tun" link \
    setpriv --bounding-set=-mknod --inh-caps=-mknod
[ "$(cat "$work/unfit")$linked" = 1no ] || fail "without TUN there is a link"
grep -q '/dev/net/tun' "$work/err" || fail "a link says nothing of TUN"
prepared "no node of TUN's, and a root that makes it" "mount -t tmpfs none /dev/net" "" link
[ "$(cat "$work/unfit")$linked" = 0yes ] || fail "a root that may make the node has no link"
# A kernel without nft_queue, as nft says it.
mkdir "$work/no-queue"
cat >"$work/no-queue/nft" <<W
#!/bin/sh
case "\$*" in *queue*) echo 'Error: Could not process rule: No such file or directory' >&2; exit 1 ;; esac
exec $(command -v nft) "\$@"
W
chmod +x "$work/no-queue/nft"
prepared "no queue in nftables" "PATH=$work/no-queue:$PATH" "the kernel lacks nft_queue" gateway
[ "$(cat "$work/unfit")" = 0 ] || fail "iptables could make the rules"
printf '#!/bin/sh\nexit 1\n' >"$work/no-queue/iptables"
chmod +x "$work/no-queue/iptables"
prepared "no queue at all" "PATH=$work/no-queue:$PATH" "nftables cannot send packets to a queue" pace
[ "$(cat "$work/unfit")" = 1 ] || fail "without rules pace is said to run"
passed "doctor names the trouble of hosts without IPv6, behind carriers' NAT, without TUN, without nftables' queue"

# A probe's server at any address answers IPv4, whatever the host's default for IPv6's sockets is.
unshare -n sh -c 'ip link set lo up
    echo 1 >/proc/sys/net/ipv6/bindv6only || exit 3
    "$0" probe serve --listen "[::]:7411" --key "$1/key" >"$1/served" 2>&1 & server=$!
    until grep -q "^listening on \[::\]:7411" "$1/served" 2>/dev/null; do sleep 0.1; done
    "$0" probe 127.0.0.1 --trust-anyone --quick --json; status=$?
    kill $server; exit $status' "$analects" "$work" >"$work/out" 2>"$work/err" || fail "IPv4 at a probe's server: $?"
passed "a probe's server answers IPv4 where net.ipv6.bindv6only is set"

# Names are not resolved without the Internet: the answer comes at once, and is explained.
cat >"$work/name.py" <<'P'
import socket, sys, time
began = time.monotonic()
try:
    socket.getaddrinfo("name.invalid", 80)
    sys.exit(3)
except socket.gaierror:
    sys.exit(0 if time.monotonic() - began < 1 else 4)
P
if [ -e /etc/resolv.conf ]; then
    for user in link plain; do
        $user -- python3 "$work/name.py" || fail "$user: a look-up without --internet: $?"
        grep -q 'asked for names.*need --internet' "$work/err" || fail "$user: no word on names"
        $user -- true || fail "$user: no link"
        if grep -q 'asked for names' "$work/err"; then fail "$user: nobody asked for names"; fi
    done
fi
passed "names without --internet: no wait, and a word on it"

# KILL leaves a link no time: what it runs, and what that has started, ends with it all the same.
for user in root plain nested; do
    marker=9$$
    set -- "$analects" link --far "sleep $marker & exec sleep $marker" -- \
        sh -c "setsid sleep $marker & sleep $marker & echo ready; sleep $marker; true"
    case $user in
        plain) set -- unshare -U --map-user=1000 --map-group=1000 "$@" ;;
        nested) set -- "$analects" link -- "$@" ;;
    esac
    "$@" >"$work/out" 2>"$work/err" &
    running=$!
    until grep -q ready "$work/out"; do sleep 0.1; done
    [ "$(pgrep -cxf "sleep $marker")" -ge 5 ] || fail "$user: what is to be ended does not run"
    kill -9 $running
    wait $running 2>/dev/null || true
    sleep 1
    if pgrep -af "sleep $marker" >"$work/out"; then fail "$user: programs outlive a kill -9"; fi
done
passed "nothing that a link runs outlives its kill -9: root, a plain user, a link in a link"

"$analects" link --down 50mbit -- sh -c 'echo ready; sleep 60' >"$work/out" 2>"$work/err" &
running=$!
until grep -q ready "$work/out"; do sleep 0.1; done
kill -9 $running
wait $running 2>/dev/null || true
sleep 0.2
host >"$work/now"
cmp -s "$work/before" "$work/now" || { diff "$work/before" "$work/now" >"$work/err" || true; fail "kill -9 leaves something"; }
started=0
while [ $started -lt 100 ]; do
    link -- true || fail "start $started"
    started=$((started + 1))
done
host >"$work/now"
cmp -s "$work/before" "$work/now" || { diff "$work/before" "$work/now" >"$work/err" || true; fail "something is left"; }
passed "nothing is left of one that is killed, and of a hundred that ended"
echo "test-link: $tests passed"
