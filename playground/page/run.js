// A run as the page knows it: pieces are added while it goes on.

/** One run under one discipline. */
export class Run {
  constructor(discipline) {
    this.discipline = discipline;
    this.until = 0;
  }

  /** Adds a line that the program printed. */
  add(line) {
    if (line.checked) this.begin(line.checked);
    else if (line.error) this.error = line.error;
    else if (line.result) this.result = line.result;
    else if (line.until_s !== undefined) this.piece(line);
  }

  begin(checked) {
    this.checked = checked;
    /** Each lane: the entry's place, and the flow's number in it. */
    this.lanes = [];
    this.waiting = checked.queues.map(() => []);
    this.left = checked.queues.map(() => []);
    /** For each entry, frames in the order of their fates: [sent, arrived, shown], in ms. */
    this.frames = checked.entries.map(() => []);
    /** For each entry, what its screen shows: [sent, shown], in ms. */
    this.screen = checked.entries.map(() => []);
    this.silent = checked.entries.map(() => []);
    /** For each entry, loads of pages: { began, parts, times, complete }. */
    this.loads = checked.entries.map(() => []);
    /** For each entry, transfers: { began, complete }. */
    this.transfers = checked.entries.map(() => []);
  }

  piece(piece) {
    this.lanes.push(...piece.lanes);
    piece.waiting.forEach((columns, queue) => this.waiting[queue].push(...columns));
    piece.left.forEach((columns, queue) => this.left[queue].push(...columns));
    for (const [entry, ...frame] of piece.frames) {
      this.frames[entry].push(frame);
      if (frame[2] !== null) this.screen[entry].push([frame[0], frame[2]]);
    }
    for (const [entry, at] of piece.silent) this.silent[entry].push(at);
    piece.loads.forEach((happened) => this.happened(happened));
    this.until = piece.until_s;
  }

  happened(happened) {
    const [[what, [entry, number, at, parts]]] = Object.entries(happened);
    const load = () => this.loads[entry].find((of) => of.number === number);
    if (what === "began") this.loads[entry].push({ number, began: at, parts, times: [] });
    else if (what === "part") load()?.times.push(at);
    else if (what === "complete") Object.assign(load() ?? {}, { complete: at });
    else if (what === "flow") this.transfers[entry][number] = { began: at };
    else if (what === "flow_done") this.transfers[entry][number].complete = at;
  }
}

/** The delay of a frame in ms; none for a lost one. */
export function delay([sent, arrived]) {
  return arrived === null ? undefined : arrived - sent;
}

/** The last item of an ascending list whose `key` is at most `at`; its place, or -1. */
export function lastBefore(list, at, key) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What the screen of a call shows at `at` ms: when that frame was sent, and shown; none before the first. */
export function onScreen(screen, at) {
  const place = lastBefore(screen, at, ([, shown]) => shown);
  return place < 0 ? undefined : { sent: screen[place][0], shown: screen[place][1] };
}

/** Whether the sound of a call is silent at `at` ms: a frame of sound of the last 20 ms does not come in time. */
export function isSilent(silent, at) {
  const place = lastBefore(silent, at, (when) => when);
  return place >= 0 && at - silent[place] < 20;
}
