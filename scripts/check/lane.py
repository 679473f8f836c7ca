"""A lane in idle time: stages that run beside those that are in a hurry."""

import concurrent.futures
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

# The output of what runs here.
LOGS = pathlib.Path("target/check")


def say(text):
    """A line of the checks on the terminal, at once."""
    print(f"check: {text}", flush=True)


class Lane:
    """Runs stages within a `with`, two at a time; what is still running at its end is ended, with all that it has
    started. `finish` takes a stage, its exit status and its seconds, and returns whether the lane goes on."""

    def __init__(self, root, stages, finish):
        self.root = root
        self.stages = stages
        self.finish = finish
        # What runs: the process of each stage.
        self.running = {}
        self.ended = False
        self.lock = threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def __enter__(self):
        if self.stages:
            say(f"meanwhile, in idle time, into {LOGS}: {', '.join(stage.name for stage in self.stages)}")
        self.futures = [self.pool.submit(self.work, stage) for stage in self.stages]

    def __exit__(self, *_):
        with self.lock:
            self.ended = True
            # A kernel's build would go on for minutes.
            for process in self.running.values():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
        self.pool.shutdown()

    def work(self, stage):
        with self.lock:
            if self.ended:
                return
            process = self.running[stage] = self.start(stage)
        began = time.monotonic()
        code = process.wait()
        with self.lock:
            del self.running[stage]
            if self.ended:
                return
        if not self.finish(stage, code, time.monotonic() - began):
            self.ended = True

    def start(self, stage):
        self.log(stage).parent.mkdir(parents=True, exist_ok=True)
        with self.log(stage).open("w") as out:
            # Not a session of its own: where the scheduler groups by session (sched(7), autogroup), the idle class
            # counts within its group alone.
            return subprocess.Popen(
                ["chrt", "--idle", "0", "sh", "-c", stage.run],
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                process_group=0,
            )

    def wait(self):
        """Until all stages are done; says once a minute what they do."""
        due = set(self.futures)
        # After a failure what still runs is ended.
        while due and not self.ended:
            done, due = concurrent.futures.wait(due, timeout=60, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
            for stage in [] if done else list(self.running):
                say(f"waiting for {stage.name}: {self.last(stage)}")

    def log(self, stage):
        return self.root / LOGS / f"{stage.name}.log"

    def last(self, stage, lines=1):
        """The end of its output."""
        return "\n".join(self.log(stage).read_text(errors="replace").splitlines()[-lines:])
