"""Runs stages, in order and beside each other, and ends with a table of their times."""

import dataclasses
import json
import pathlib
import subprocess
import threading
import time

import inputs
import trace
from lane import Job, Lane, last
from say import clock, say

# The output of what runs beside the stages in order.
LOGS = pathlib.Path("target/check")


class Record:
    """The passes that `.ci/passed.json` remembers: for each stage the hash of its inputs."""

    def __init__(self, root):
        self.path = root / inputs.RECORD
        self.passes = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.lock = threading.Lock()

    def has(self, stage, digest):
        return self.passes.get(stage.name) == digest

    def add(self, stage, digest):
        with self.lock:
            self.passes[stage.name] = digest
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(dict(sorted(self.passes.items())), indent=2) + "\n")
            part.replace(self.path)


@dataclasses.dataclass
class Due:
    """A stage, the hash of its inputs, and whether it passed with them before."""

    stage: object
    digest: str
    passed: bool


@dataclasses.dataclass
class Result:
    """What came of a stage, and after how many seconds."""

    stage: object
    took: float
    code: int
    beside: bool = False


def run(root, chosen, words):
    """Runs the stages that have to run; the exit status."""
    record = Record(root)
    if words.trace and not trace.is_possible():
        say("error: there is no strace; install the package strace")
        return 2
    due = []
    for stage, skippable in chosen:
        for path in inputs.unmatched(root, stage):
            say(f"error: .ci/stages.toml: stage {stage.name}: the input {path} names no file")
            return 2
        digest = inputs.digest(root, stage)
        due.append(Due(stage, digest, skippable and not words.all and record.has(stage, digest)))
    if words.list:
        for one in due:
            say(f"{one.stage.name}: {'passed before' if one.passed else one.stage.run}")
        return 0
    began = time.monotonic()
    for one in due:
        if one.passed:
            say(f"{one.stage.name}: SKIPPED, passed before with these inputs ({one.digest})")
    results = Run(root, record, words).all([one for one in due if not one.passed])
    skipped = [one.stage for one in due if one.passed]
    return summary(skipped, results, time.monotonic() - began)


class Run:
    """One run of stages, and what came of them so far."""

    def __init__(self, root, record, words):
        self.root = root
        self.record = record
        self.words = words
        self.results = []

    def all(self, due):
        """The results of all stages, or of those up to the first failure."""
        ahead = [one for one in due if self.words.trace or not one.stage.beside] or due
        beside = [one for one in due if one not in ahead]
        jobs = [*self.preparations(ahead), *(self.job(one) for one in beside)]
        if jobs:
            say(f"meanwhile, in idle time, into {LOGS}: {', '.join(job.name for job in jobs)}")
        with Lane(self.root, jobs) as lane:
            for number, one in enumerate(ahead, 1):
                self.in_order(one, f"stage {number} of {len(ahead)}")
                if self.is_over():
                    break
            else:
                lane.wait()
        return self.results

    def is_over(self):
        """Whether a stage failed, and the others are not wanted."""
        return not self.words.keep_going and any(result.code != 0 for result in self.results)

    def preparations(self, stages):
        """What the stages want to have fetched. What fails here fails again, and is seen, in its stage."""
        for one in stages:
            if one.stage.prepare:
                name = f"prepare-{one.stage.name}"
                yield Job(name, one.stage.prepare, self.root / LOGS / f"{name}.log")

    def job(self, one):
        """A stage as a job of the lane."""
        log = self.root / LOGS / f"{one.stage.name}.log"

        def done(code, took):
            if code != 0:
                print(last(log, 40), flush=True)
            self.finish(one, code, took, beside=True)
            return not self.is_over()

        return Job(one.stage.name, one.stage.run, log, done)

    def in_order(self, one, place):
        """Runs a stage in this terminal."""
        say(f"{place}, {one.stage.name}: {one.stage.run}")
        began = time.monotonic()
        code = attempt(self.root, one.stage, self.words.trace)
        self.finish(one, code, time.monotonic() - began)

    def finish(self, one, code, took, beside=False):
        """Says and remembers what came of a stage."""
        # A stage that changes its own inputs has checked neither the old nor the new ones.
        if code == 0 and inputs.digest(self.root, one.stage) == one.digest:
            self.record.add(one.stage, one.digest)
        say(f"{one.stage.name}: {'ok' if code == 0 else 'FAILED'} after {clock(took)}")
        self.results.append(Result(one.stage, took, code, beside))


def attempt(root, stage, traced):
    """Runs a stage's command; 0 if it passed, and opened only what it names if that is `traced`."""
    if not traced:
        return subprocess.run(stage.run, shell=True, cwd=root, stdin=subprocess.DEVNULL).returncode
    code, complaints = trace.run(root, stage)
    for complaint in complaints:
        say(f"{stage.name}: {complaint}")
    return code or len(complaints)


def summary(skipped, results, took):
    """Prints the table of times, what failed and how to run that alone; the exit status."""
    width = max((len(stage.name) for stage in [*skipped, *(result.stage for result in results)]), default=0)

    def row(name, seconds, words):
        print(f"  {name:{width}}  {clock(seconds):>7}  {words}")

    for stage in skipped:
        row(stage.name, 0, "skipped")
    for result in results:
        word = f"FAILED ({result.code})" if result.code else "ok"
        row(result.stage.name, result.took, word + (", in idle time beside others" if result.beside else ""))
    row("in all", took, "")
    failed = [result.stage for result in results if result.code != 0]
    for stage in failed:
        say(f"FAILED: {stage.name}; alone: {stage.run}")
    print(f"stages: {len(results) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0
