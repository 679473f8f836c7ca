#!/bin/sh
# Runs ns-3 on the reference set-up (dumbbell.cc) and writes reference.csv, variants.csv,
# burst.csv and calls.csv beside itself. ns-3 is deterministic, so on ns-3.37 the files come out the
# same byte for byte. Takes ten minutes. Needs jq. Exit code 3: there is no ns-3 here.
set -eu
cd "$(dirname "$0")/../.."
bench/ns3/build.sh
here=bench/ns3
dumbbell=target/ns3/dumbbell

columns='discipline limit control flows goodput_mbps jfi sojourn_mean_ms sojourn_p95_ms drops'
burst_columns='discipline limit control flows sojourn_before_ms sojourn_peak_ms
               completion_min_ms completion_mean_ms completion_max_ms'

call_columns='discipline limit burst_at_s call_mbps call_mean_ms call_p95_ms call_max_ms
              completion_mean_ms completion_max_ms'

header() { echo "$@" | tr ' ' ','; }

# row COLUMNS: a line of JSON in, a line of CSV out; a missing column is an error. (Adding 0 makes
# every jq print a number the same way: some keep the digits as they were read.)
row() {
    jq -r --arg columns "$*" '. as $all | $columns | split(" ")
        | map($all[.] // error("no " + .))
        | map(if type == "number" then . + 0 else . end | tostring) | join(",")'
}

# Adds the fastest, the mean and the slowest of the burst's flows to the row; one that did not end is an error.
# (Through files: of a pipe, sh sees the last status only.)
with_completion() {
    jq '.completion_ms as $all | if $all | any(. == null) then error("a flow did not end") else . end
        | . + {completion_min_ms: $all | min, completion_max_ms: $all | max,
               completion_mean_ms: $all | (add / length * 10 | round / 10)}' \
        target/ns3/row.json >target/ns3/whole.json
}

# Rows where ns-3.37 is a reference: not its Cubic with many losses, nor its BBR with any.
# discipline, limit in packets, control, flows
rows='fifo     67    TcpLinuxReno 4
      fifo     67    TcpVegas     4
      fifo     67    TcpCubic     1
      fifo     250   TcpCubic     1
      fifo     250   TcpCubic     4
      fifo     250   TcpLinuxReno 4
      fifo     250   TcpBbr       4
      fifo     250   TcpVegas     4
      codel    1000  TcpLinuxReno 4
      codel    1000  TcpVegas     4
      fq_codel 10240 TcpLinuxReno 4
      fq_codel 10240 TcpVegas     4
      fq_pie   10240 TcpVegas     4'

# The same with flows that start a little later, or with fewer or more of them: how much a row
# depends on how it begins.
# discipline, limit in packets, control, flows, ms from the start of a flow to the next
variants='fq_codel 10240 TcpLinuxReno 4 9
          fq_codel 10240 TcpLinuxReno 4 11
          fq_codel 10240 TcpLinuxReno 4 13
          fq_codel 10240 TcpLinuxReno 4 20
          fq_codel 10240 TcpLinuxReno 4 50
          fq_codel 10240 TcpVegas     1 10
          fq_codel 10240 TcpVegas     2 10
          fq_codel 10240 TcpVegas     5 10
          fq_codel 10240 TcpVegas     4 100
          fifo     250   TcpVegas     1 10
          fifo     250   TcpVegas     4 50
          fifo     250   TcpVegas     4 100'

run() {
    $dumbbell --rate=20Mbps --duration=60 --warmup=10 --discipline="$1" --limit="$2" \
        --control="$3" --flows="$4" --stagger="$5" >target/ns3/row.json
}

header $columns >target/ns3/reference.csv
echo "$rows" | while read -r discipline limit control flows; do
    run "$discipline" "$limit" "$control" "$flows" 10
    row $columns <target/ns3/row.json >>target/ns3/reference.csv
done

header $columns stagger_ms >target/ns3/variants.csv
echo "$variants" | while read -r discipline limit control flows stagger; do
    run "$discipline" "$limit" "$control" "$flows" "$stagger"
    row $columns stagger_ms <target/ns3/row.json >>target/ns3/variants.csv
done

header $burst_columns >target/ns3/burst.csv
$dumbbell --rate=20Mbps --duration=25 --warmup=10 --discipline=fq_codel --flows=1 --burst \
    >target/ns3/row.json
with_completion
row $burst_columns <target/ns3/whole.json >>target/ns3/burst.csv

# A page beside a call, under every discipline that both have.
# discipline, limit in packets
calls='fifo      250
       codel     1000
       pie       1000
       cobalt    1000
       fq_codel  10240
       fq_pie    10240
       fq_cobalt 10240'

# Twenty times a discipline: what a page does depends on the phase of the download's sawtooth.
header $call_columns >target/ns3/calls.csv
echo "$calls" | while read -r discipline limit; do
    for at in $(seq 40 59); do
        $dumbbell --rate=20Mbps --duration=70 --warmup=10 --discipline="$discipline" --limit="$limit" \
            --control=TcpLinuxReno --flows=1 --burst --burst-bytes=30000 --burst-at="$at" \
            --call=2500kbps >target/ns3/row.json
        with_completion
        row $call_columns <target/ns3/whole.json >>target/ns3/calls.csv
    done
done

mv target/ns3/reference.csv target/ns3/variants.csv target/ns3/burst.csv target/ns3/calls.csv $here/
