// What all pages need. Everything that goes wrong is written down, too.
const post = (path, body) => fetch(path, {method: 'POST', body});
const put = (name, message) => post(`/put/${name}`, message);
const record = (kind, what) => post(`/record/${kind}`, JSON.stringify(what));
// What there is to know of the trial.
const trial = fetch('/trial').then((answer) => answer.json());
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// A message that another browser leaves.
const get = async (name) => {
    for (;;) {
        const answer = await fetch(`/get/${name}`);
        if (answer.ok) return answer.text();
    }
};

const run = (script) => script().catch((error) => record('error', {message: `${document.title}: ${error}`}));

// The description of this end, when all of its addresses are in it.
const described = async (peer) => {
    while (peer.iceGatheringState !== 'complete') await sleep(20);
    return JSON.stringify(peer.localDescription);
};

// Writes down the browser's statistics of one kind, four times a second, and of a trial that is kept once a second all of
// them.
const report = async (peer, type, kind, also = () => {}) => {
    const {kept} = await trial;
    let round = 0;
    setInterval(async () => {
        const all = await peer.getStats();
        for (const statistics of all.values())
            if (statistics.type === type) {
                record(kind, statistics);
                also(statistics);
            }
        if (kept && round++ % 4 === 0) record('statistics', {of: kind, reports: Object.fromEntries(all)});
    }, 250);
};
