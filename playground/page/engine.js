// Workers that run the program. Of requests to one worker the newest wins: a run that is no longer wanted
// is ended, and none waits behind another.

/** A run that takes longer than this is ended: the page is no place for it. */
const MOST_MS = 90_000;
/** A run that has gone on for so long is not waited for when the next one is there. */
const PATIENCE_MS = 60;

/** One worker, and the requests to it. */
export class Engine {
  /** `start` makes a worker, `program` resolves to the compiled program. */
  constructor(start, program) {
    this.start = start;
    this.program = program;
    this.files = new Map();
    this.next = 1;
    this.renew();
  }

  renew() {
    this.worker?.terminate();
    this.worker = this.start();
    this.worker.addEventListener("message", ({ data }) => this.heard(data));
    this.worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.end({ code: 134, errors: event.message });
    });
    this.ready = this.program.then((program) => {
      this.worker.postMessage({ program });
      this.worker.postMessage({ files: this.files });
    });
  }

  /** Files that scenarios may name. */
  async setFiles(files) {
    this.files = files;
    await this.ready;
    this.worker.postMessage({ files });
  }

  /**
   * Runs the program. `line` is called with each object that it prints. Resolves to its exit code, what it
   * wrote to standard error and how long it took; to `undefined` if a newer request came before the end.
   */
  ask(args, input, line) {
    return new Promise((resolve) => {
      const job = { id: this.next++, args, input, line, resolve };
      this.waiting?.resolve(undefined);
      this.waiting = job;
      if (!this.running) {
        this.begin();
      } else if (performance.now() - this.running.began > PATIENCE_MS) {
        this.stop();
      } else {
        this.later = setTimeout(() => this.waiting && this.running && this.stop(), PATIENCE_MS);
      }
    });
  }

  /** Ends what runs; the next request begins. */
  stop() {
    if (!this.running) return;
    this.renew();
    this.end(undefined);
  }

  async begin() {
    const job = this.waiting;
    this.waiting = undefined;
    this.running = job;
    job.began = performance.now();
    job.watch = setTimeout(() => {
      this.renew();
      this.end({ code: 124, errors: `it takes more than ${MOST_MS / 1000} s` });
    }, MOST_MS);
    await this.ready;
    if (this.running === job) this.worker.postMessage({ id: job.id, args: job.args, input: job.input });
  }

  heard(data) {
    const job = this.running;
    if (!job || data.id !== job.id) return;
    if (data.line !== undefined) job.line(JSON.parse(data.line));
    else this.end(data);
  }

  end(outcome) {
    const job = this.running;
    if (!job) return;
    this.running = undefined;
    clearTimeout(job.watch);
    clearTimeout(this.later);
    job.resolve(this.waiting ? undefined : outcome);
    if (this.waiting) this.begin();
  }
}
