"""What the checks of this tree promise, tried on a small tree: `python3 scripts/check/tests.py`."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

STAGES = """
[[stage]]
name = "demo"
run = "echo ran demo"

[[stage]]
name = "kernel"
commit = "echo ran kernel in short; test ! -e broken"
gate = "echo ran kernel; test ! -e broken"

[[stage]]
name = "gate-only"
gate = "echo ran gate-only"
"""


class Tree(unittest.TestCase):
    """A tree under git with three stages, and this folder's program in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        here = pathlib.Path(__file__).resolve().parent
        shutil.copytree(here, self.root / "scripts/check", ignore=shutil.ignore_patterns("__pycache__"))
        self.write("README.md", "A tree.\n")
        self.write(".gitignore", "__pycache__/\n/target\n")
        self.write(".ci/stages.toml", STAGES)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        name = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", *name, *words], cwd=self.root, check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "A change")

    def check(self, *words):
        """Exit status and all that was said."""
        command = [sys.executable, "scripts/check", *words]
        said = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=60)
        return said.returncode, said.stdout + said.stderr

    def ran(self, *words):
        """Checks, which has to pass, and the stages that ran."""
        status, said = self.check(*words)
        self.assertEqual(status, 0, said)
        return [line.removeprefix("ran ") for line in said.splitlines() if line.startswith("ran ")]


class Resuming(Tree):
    def test_a_tier_has_its_own_commands_and_a_stage_that_is_named_the_gates(self):
        self.assertEqual(self.ran("commit"), ["demo", "kernel in short"])
        self.assertEqual(self.ran("gate"), ["demo", "kernel", "gate-only"])
        self.assertEqual(self.ran("kernel"), ["kernel"])

    def test_a_gate_goes_on_where_it_ended_and_a_line_says_so(self):
        self.write("broken", "")
        self.commit()
        self.assertEqual(self.check("gate")[0], 1)
        status, said = self.check("gate")
        self.assertEqual(status, 1)
        self.assertIn("demo: SKIPPED, it has passed on this tree", said)
        self.assertIn("stages: 0 passed, 1 failed", said)
        self.assertEqual(self.ran("gate-only"), ["gate-only"])
        self.assertNotIn("ran gate-only", self.check("gate", "--keep-going")[1], "a pass of a stage alone is one")

    def test_any_change_and_only_a_change_makes_it_begin_anew(self):
        every = ["demo", "kernel", "gate-only"]
        self.assertEqual(self.ran("gate"), every)
        self.assertEqual(self.ran("gate"), [])
        self.assertEqual(self.ran("gate", "--all"), every)
        self.write("README.md", "Another page.\n")
        for _ in range(2):
            self.assertEqual(self.ran("gate"), every, "what is not committed is never remembered")
        self.commit()
        self.assertEqual(self.ran("gate"), every)
        self.assertEqual(self.ran("gate"), [])
        self.git("revert", "--no-edit", "HEAD")
        self.assertEqual(self.ran("gate"), [], "it passed on these files before")
        self.write("new.c", "int a;\n")
        self.assertEqual(self.ran("gate"), every, "nor is a file that git does not know yet")

    def test_a_commit_is_always_checked_whole_and_is_no_pass_of_the_gate(self):
        for _ in range(2):
            self.assertEqual(self.ran("commit"), ["demo", "kernel in short"])
        self.assertEqual(self.ran("gate"), ["demo", "kernel", "gate-only"])

    def test_a_stage_that_changes_the_tree_has_not_checked_it(self):
        self.write(".ci/stages.toml", STAGES.replace("echo ran gate-only", "echo ran gate-only; echo >>README.md"))
        self.commit()
        self.assertEqual(self.ran("gate"), ["demo", "kernel", "gate-only"])
        self.git("checkout", "README.md")
        self.assertEqual(self.ran("gate"), ["gate-only"])


class Failing(Tree):
    def test_the_first_failure_ends_it_and_says_how_to_run_it_alone(self):
        self.write("broken", "")
        status, said = self.check("gate")
        self.assertEqual(status, 1)
        self.assertNotIn("ran gate-only", said)
        self.assertIn("check: FAILED: kernel; alone: echo ran kernel; test ! -e broken", said)
        self.assertIn("stages: 1 passed, 1 failed", said)
        self.assertIn("ran gate-only", self.check("gate", "--keep-going")[1])

    def test_mistakes_are_told_and_nothing_runs(self):
        mistakes = {
            ('name = "kernel"', 'name = "demo"'): "there are two of the name demo",
            ('name = "kernel"', 'name = "gate"'): "there are two of the name gate",
            ('gate = "echo ran gate-only"', 'gat = "echo"'): "stage gate-only: unknown key gat",
            ('gate = "echo ran gate-only"', "gate = 3"): "stage gate-only: gate is 3, expected str",
            ('gate = "echo ran gate-only"', ""): "stage gate-only: expected either run, or commit and gate",
            ('run = "echo ran demo"', 'run = ""\ngate = ""'): "stage demo: expected either run, or commit and gate",
            ("[[stage]]", "[[stages]]"): "unknown key stages, expected [[stage]]",
            ("[[stage]]", "[[stage"): "stages.toml",
        }
        for (before, after), words in mistakes.items():
            self.write(".ci/stages.toml", STAGES.replace(before, after, 1))
            status, said = self.check("gate")
            self.assertNotEqual(status, 0, words)
            self.assertIn(words, said)
            self.assertNotIn("ran ", said)
        self.write(".ci/stages.toml", STAGES)
        self.assertIn("there is no stage kernels; expected commit, gate, or of demo, kernel", self.check("kernels")[1])


class Beside(Tree):
    """The stage `kernel` beside the others; it waits until the demo has begun."""

    def setUp(self):
        super().setUp()
        self.stages = STAGES.replace('gate = "echo ran kernel;', 'beside = true\ngate = "echo ran kernel;')
        self.stages = self.stages.replace("echo ran demo", "echo ran demo; touch ../began")
        self.kernel("until test -e ../began; do sleep 0.1; done")

    def kernel(self, command):
        """Lets the stage run this for a commit."""
        self.write(".ci/stages.toml", self.stages.replace("echo ran kernel in short", command))

    def test_it_runs_beside_the_others_into_a_file_and_is_waited_for(self):
        status, said = self.check("commit")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, "kernel +0:0[0-9]  ok, in idle time")
        self.assertTrue((self.root / "target/check/kernel.log").exists())

    def test_its_class_is_idle(self):
        self.kernel("chrt -p 0")
        self.assertEqual(self.check("commit")[0], 0)
        self.assertIn("SCHED_IDLE", (self.root / "target/check/kernel.log").read_text())

    def test_its_failure_is_shown_with_the_end_of_its_output(self):
        self.write("broken", "")
        self.kernel("echo trouble")
        status, said = self.check("commit")
        self.assertEqual(status, 1, said)
        self.assertIn("trouble", said)
        self.assertIn("check: FAILED: kernel; alone: echo trouble; test ! -e broken", said)

    def test_the_first_failure_ends_it_and_all_that_it_started(self):
        self.stages = self.stages.replace("touch ../began", "until test -s ../pid; do sleep 0.1; done; exit 3")
        self.kernel("sleep 300 & echo $! >../pid; wait")
        began = time.monotonic()
        status, said = self.check("commit")
        self.assertEqual(status, 1, said)
        self.assertIn("stages: 0 passed, 1 failed", said)
        self.assertLess(time.monotonic() - began, 60)
        started = pathlib.Path("/proc", (self.root / "../pid").read_text().strip())
        while self.runs(started) and time.monotonic() - began < 60:
            time.sleep(0.1)
        self.assertFalse(self.runs(started))

    def runs(self, process):
        """Whether it is there, and not a dead process that its parent has not asked about."""
        try:
            return "State:\tZ" not in (process / "status").read_text()
        except OSError:
            return False

    def test_alone_and_in_the_gate_it_runs_in_the_terminal(self):
        self.assertEqual(self.ran("kernel"), ["kernel"])
        self.assertEqual(self.ran("gate"), ["demo", "kernel", "gate-only"])


unittest.main()
