"""Runs stages, in order and beside each other, and ends with a table of their times."""

import collections
import subprocess
import time

import passes
from lane import Lane, say

# What came of a stage, and after how many seconds.
Result = collections.namedtuple("Result", "stage took code")


def run(root, chosen, skipped, words):
    """Runs the stages but for those that are skipped; the exit status."""
    began = time.monotonic()
    for stage in skipped:
        say(f"{stage.name}: SKIPPED, it has passed on this tree")
    this = Run(root, words)
    this.all([stage for stage in chosen if stage not in skipped])
    return summary(skipped, this.results, time.monotonic() - began)


class Run:
    """One run of stages, and what came of them so far."""

    def __init__(self, root, words):
        self.root = root
        self.keeps_going = words.keep_going
        # In the tier "commit" a stage may be shorter than in the gate, which alone is resumed.
        self.remembers = words.what != ["commit"]
        self.results = []

    def all(self, due):
        """Runs all stages, or those up to the first failure."""
        ahead = [stage for stage in due if not stage.beside]
        self.lane = Lane(self.root, [stage for stage in due if stage.beside], self.finish)
        with self.lane:
            for number, stage in enumerate(ahead, 1):
                say(f"stage {number} of {len(ahead)}, {stage.name}: {stage.run}")
                if not self.in_order(stage):
                    return
            self.lane.wait()

    def in_order(self, stage):
        """Runs a stage in this terminal, and remembers its pass; whether to go on."""
        before = passes.tree(self.root) if self.remembers else None
        began = time.monotonic()
        code = subprocess.run(stage.run, shell=True, cwd=self.root, stdin=subprocess.DEVNULL).returncode
        if code == 0:
            passes.remember(self.root, stage, before)
        return self.finish(stage, code, time.monotonic() - began)

    def finish(self, stage, code, took):
        """Says what came of a stage; whether to go on."""
        if code != 0 and stage.beside:
            print(self.lane.last(stage, 40), flush=True)
        say(f"{stage.name}: {'ok' if code == 0 else 'FAILED'} after {clock(took)}")
        self.results.append(Result(stage, took, code))
        return self.keeps_going or all(result.code == 0 for result in self.results)


def clock(seconds):
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def summary(skipped, results, took):
    """Prints the table of times, what failed and how to run that alone; the exit status."""
    rows = [(stage.name, 0, "skipped") for stage in skipped]
    for result in results:
        word = f"FAILED ({result.code})" if result.code else "ok"
        rows.append((result.stage.name, result.took, word + (", in idle time" if result.stage.beside else "")))
    rows.append(("in all", took, ""))
    width = max(len(name) for name, _, _ in rows)
    for name, seconds, words in rows:
        print(f"  {name:{width}}  {clock(seconds):>7}  {words}")
    failed = [result.stage for result in results if result.code != 0]
    for stage in failed:
        say(f"FAILED: {stage.name}; alone: {stage.run}")
    print(f"stages: {len(results) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0
