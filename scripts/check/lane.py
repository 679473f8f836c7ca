"""A lane in idle time: commands that run one after the other, beside stages that are in a hurry."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time
import typing

from say import clock, say

# Runs $1 in the scheduler's idle class. Where processes are grouped by session (sched(7), autogroup), a class
# counts within its group alone, so that the group gets the least weight, too.
IDLE = 'echo 19 2>/dev/null >/proc/self/autogroup; exec chrt --idle 0 sh -c "$1"'


@dataclasses.dataclass
class Job:
    """A command, and the file of its output."""

    name: str
    command: str
    log: pathlib.Path
    # Takes its exit status and its seconds, and returns whether the lane goes on. Without it nobody asks what came
    # of the command, and at the end nobody waits for it.
    done: typing.Callable[[int, float], bool] | None = None


class Lane:
    """Runs jobs within a `with`; what is still running at its end is ended, with all that it has started."""

    def __init__(self, root, jobs):
        self.root = root
        self.jobs = jobs
        self.job = None
        self.process = None
        # Whether jobs that nobody asks about are left out; whether all are.
        self.hurries = False
        self.ended = False
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with self.lock:
            self.ended = True
            self.kill()
        self.thread.join()

    def work(self):
        for job in self.jobs:
            began = time.monotonic()
            if not self.start(job):
                continue
            code = self.process.wait()
            with self.lock:
                self.process = None
            if job.done and not self.ended and not job.done(code, time.monotonic() - began):
                break

    def start(self, job):
        """Starts it, if it is still wanted."""
        job.log.parent.mkdir(parents=True, exist_ok=True)
        with self.lock, job.log.open("w") as out:
            if self.ended or self.hurries and not job.done:
                return False
            self.job = job
            self.process = subprocess.Popen(
                ["sh", "-c", IDLE, "lane", job.command],
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            return True

    def kill(self):
        """Ends what runs: a kernel's build would go on for minutes."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM)

    def wait(self):
        """Until all jobs are done that somebody asks about; says once a minute what the lane does."""
        with self.lock:
            self.hurries = True
            if self.job and not self.job.done:
                self.kill()
        began = time.monotonic()
        while self.thread.is_alive():
            self.thread.join(60)
            if self.thread.is_alive():
                since = clock(time.monotonic() - began)
                say(f"waiting for {self.job.name}, since {since}: {last(self.job.log)}")


def last(log, lines=1):
    """The end of a file."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
