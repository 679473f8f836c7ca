// Runs before the scripts of a page: knows the calls that the page makes, and what they are like.
(() => {
    const calls = [];
    window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
        construct(target, args, made) {
            const call = Reflect.construct(target, args, made);
            calls.push(call);
            return call;
        },
    });

    const sums = ["freezeCount", "totalFreezesDuration", "jitterBufferDelay", "jitterBufferEmittedCount"];
    const arriving = ["packetsLost", "packetsReceived", "bytesReceived"];
    const add = (told, report, names) => {
        for (const name of names) if (name in report) told[name] = (told[name] ?? 0) + report[name];
    };

    // All calls together: sums, of several pictures the slowest one, of several paths the longest one.
    const since = {};
    window.analectsStatistics = async () => {
        const told = { timestamp: performance.timeOrigin + performance.now() };
        for (const call of calls.filter(call => call.connectionState !== "closed")) {
            const stats = await call.getStats();
            for (const report of stats.values()) {
                if (report.type === "inbound-rtp") add(told, report, arriving);
                if (report.type === "inbound-rtp" && report.kind === "video") {
                    add(told, report, sums);
                    // framesPerSecond is not there while no frame comes.
                    const now = [report.timestamp, report.framesDecoded ?? 0];
                    const before = since[report.id];
                    since[report.id] = now;
                    if (!before || now[1] === 0 || now[0] <= before[0]) continue;
                    const fps = 1000 * (now[1] - before[1]) / (now[0] - before[0]);
                    told.framesPerSecond = Math.min(told.framesPerSecond ?? fps, fps);
                }
                const pair = report.type === "transport" && stats.get(report.selectedCandidatePairId);
                if (pair && "currentRoundTripTime" in pair)
                    told.currentRoundTripTime = Math.max(told.currentRoundTripTime ?? 0, pair.currentRoundTripTime);
            }
        }
        return JSON.stringify(told);
    };
})();
