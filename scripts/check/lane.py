"""A lane in idle time: commands that run beside stages that are in a hurry."""

import collections
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
    """Runs jobs within a `with`, two at a time; what is still running at its end is ended, with all that it has
    started."""

    def __init__(self, root, jobs):
        self.root = root
        self.jobs = collections.deque(jobs)
        # What runs, and its process.
        self.running = {}
        # Whether jobs that nobody asks about are left out; whether all are.
        self.hurries = False
        self.ended = False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(2)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        with self.lock:
            self.ended = True
            self.kill(lambda job: True)
        for thread in self.threads:
            thread.join()

    def work(self):
        while started := self.start():
            job, process = started
            began = time.monotonic()
            code = process.wait()
            with self.lock:
                del self.running[job.name]
                ended = self.ended
            if job.done and not ended and not job.done(code, time.monotonic() - began):
                self.ended = True

    def start(self):
        """Starts the next job that is still wanted."""
        with self.lock:
            while self.jobs and not self.ended:
                job = self.jobs.popleft()
                if self.hurries and not job.done:
                    continue
                job.log.parent.mkdir(parents=True, exist_ok=True)
                with job.log.open("w") as out:
                    # Not a session of its own: where the scheduler groups by session (sched(7), autogroup), the
                    # idle class counts within its group alone.
                    process = subprocess.Popen(
                        ["chrt", "--idle", "0", "sh", "-c", job.command],
                        cwd=self.root,
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=out,
                        process_group=0,
                    )
                self.running[job.name] = job, process
                return job, process
            return None

    def kill(self, which):
        """Ends some of what runs: a kernel's build would go on for minutes."""
        for job, process in self.running.values():
            if which(job):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)

    def wait(self):
        """Until all jobs are done that somebody asks about; says once a minute what the lane does."""
        with self.lock:
            self.hurries = True
            self.kill(lambda job: not job.done)
        began = time.monotonic()
        for thread in self.threads:
            while thread.is_alive():
                thread.join(60)
                if thread.is_alive():
                    self.tell(clock(time.monotonic() - began))

    def tell(self, since):
        with self.lock:
            jobs = [job for job, _ in self.running.values()]
        for job in jobs:
            say(f"waiting for {job.name}, since {since}: {last(job.log)}")


def last(log, lines=1):
    """The end of a file."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
