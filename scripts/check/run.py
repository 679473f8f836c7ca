"""Runs stages in their order, and ends with a table of their times."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import time

import inputs
import trace


class Record:
    """The passes that `.ci/passed.json` remembers: for each stage the hash of its inputs."""

    def __init__(self, root):
        self.path = root / inputs.RECORD
        self.passes = json.loads(self.path.read_text()) if self.path.exists() else {}

    def has(self, stage, digest):
        return self.passes.get(stage.name) == digest

    def add(self, stage, digest):
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


def say(text):
    print(f"check: {text}", flush=True)


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
    with preparations(root, [one.stage for one in due if not one.passed]):
        results = list(run_stages(root, due, record, words))
    return summary(results)


@contextlib.contextmanager
def preparations(root, stages):
    """What the stages want to have fetched, one after the other, beside everything within."""
    commands = list(dict.fromkeys(stage.prepare for stage in stages if stage.prepare))
    if not commands:
        yield
        return
    log = root / "target/check-prepare.log"
    log.parent.mkdir(exist_ok=True)
    say(f"meanwhile, into {log.relative_to(root)}: {'; '.join(commands)}")
    with log.open("w") as out:
        # What fails here fails again, and is seen, in its stage.
        command = ["sh", "-c", "; ".join(commands)]
        beside = subprocess.Popen(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            yield
        finally:
            # With all that it has started: a kernel's build would go on for minutes.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(beside.pid, signal.SIGTERM)
            beside.wait()


def run_stages(root, due, record, words):
    """Runs what is due: for each stage its times, and what came of it."""
    for number, one in enumerate(due, 1):
        stage = one.stage
        place = f"stage {number} of {len(due)}, {stage.name}"
        if one.passed:
            say(f"{place}: SKIPPED, passed before with these inputs ({one.digest})")
            yield stage, 0, "skipped"
            continue
        say(f"{place}: {stage.run}")
        began = time.monotonic()
        code = attempt(root, stage, words.trace)
        took = time.monotonic() - began
        # A stage that changes its own inputs has checked neither the old nor the new ones.
        if code == 0 and inputs.digest(root, stage) == one.digest:
            record.add(stage, one.digest)
        say(f"{stage.name}: {'ok' if code == 0 else 'FAILED'} after {clock(took)}")
        yield stage, took, "ok" if code == 0 else f"FAILED ({code})"
        if code != 0 and not words.keep_going:
            return


def attempt(root, stage, traced):
    """Runs a stage's command; 0 if it passed, and opened only what it names if that is `traced`."""
    if not traced:
        return subprocess.run(stage.run, shell=True, cwd=root, stdin=subprocess.DEVNULL).returncode
    code, complaints = trace.run(root, stage)
    for complaint in complaints:
        say(f"{stage.name}: {complaint}")
    return code or len(complaints)


def summary(results):
    """Prints the table of times, what failed and how to run that alone; the exit status."""
    width = max((len(stage.name) for stage, _, _ in results), default=0)
    for stage, took, result in results:
        print(f"  {stage.name:{width}}  {clock(took):>7}  {result}")
    total = sum(took for _, took, _ in results)
    print(f"  {'in all':{width}}  {clock(total):>7}")
    failed = [stage for stage, _, result in results if result.startswith("FAILED")]
    for stage in failed:
        say(f"FAILED: {stage.name}; alone: {stage.run}")
    passed = sum(result == "ok" for _, _, result in results)
    print(f"stages: {passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
