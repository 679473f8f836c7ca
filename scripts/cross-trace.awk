# Writes a trace for kernel/test/replay_confucius.c, whose lines kernel/test/trace_confucius.h explains: calls,
# downloads and look-ups on a link of a packet per millisecond, whose parameters change at times.
#   awk -v seed=1 -v lines=20000 -f scripts/cross-trace.awk

# Park and Miller's minimal standard generator: exact in the doubles of any awk.
function random(n) {
    state = (state * 16807) % 2147483647
    return state % n
}

function params(limit, flows) {
    targets = random(2) ? "10 50 90" : "5 20 40 80 120 200 1000"
    return limit " " 4000 + random(3000000) " " flows " " 300 + random(3000) " " random(2) " " \
        20000 + random(200000) " " 50000 + random(500000) " " random(4) " " 1 + random(50) " " \
        20000 + random(200000) " " 100000 + random(2000000) " " random(2) " " targets
}

function arrive(flow, length_) {
    # Few hashes, so that sets fill up and flows are guests of others.
    printf "e %.0f %.0f %d %d %d\n", now, (flow * 2654435761) % 4294967296, flow, length_, random(4)
}

BEGIN {
    state = seed ? seed : 1
    now = 1000
    flows = 64
    print "new " params(200, flows)
    for (line = 0; line < lines; line++) {
        now += 200000 + random(400000)
        kind = random(100)
        if (kind < 15) arrive(1 + random(3), 200 + random(1000))
        else if (kind < 45) arrive(10 + random(4), 1514)
        else if (kind < 50) arrive(100 + random(500), 60 + random(100))
        else if (kind < 99) printf "d %.0f\n", now
        else if (random(10)) now += random(300000000)
        else printf "change %.0f %s\n", now, params(20 + random(300), flows)
    }
    print "end"
}
