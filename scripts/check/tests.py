"""What the checks of this tree promise, tried on a small tree: `python3 scripts/check/tests.py`."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

STAGES = """
[sets]
code = ["code"]

[[stage]]
name = "demo"
run = "echo ran demo"
always = true

[[stage]]
name = "kernel"
run = "echo ran kernel; test ! -e broken"
inputs = ["@code", "Makefile"]
versions = ["cat ../version"]

[[stage]]
name = "gate-only"
run = "echo ran gate-only"
tiers = ["gate"]
inputs = ["code"]
"""


class Tree(unittest.TestCase):
    """A tree under git with three stages, and this folder's program in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        here = pathlib.Path(__file__).resolve().parent
        shutil.copytree(here, self.root / "scripts/check", ignore=shutil.ignore_patterns("__pycache__"))
        self.write("code/a.c", "int a;\n")
        self.write("code/b.c", "int b;\n")
        self.write("Makefile", "all:\n")
        self.write("README.md", "A tree.\n")
        self.write("../version", "1\n")
        self.write(".gitignore", "__pycache__/\n/target\n")
        self.write(".ci/stages.toml", STAGES)
        self.git("init", "-q")
        self.git("add", "-A")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

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

    def passed(self, stage):
        """The hash that is remembered of the stage's last pass."""
        return json.loads((self.root / ".ci/passed.json").read_text())[stage]


class Skipping(Tree):
    def test_a_stage_with_the_same_inputs_is_skipped_and_a_line_says_so(self):
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])
        self.write("README.md", "Another page.\n")
        status, said = self.check("commit")
        self.assertEqual(status, 0)
        self.assertIn("kernel: SKIPPED, passed before with these inputs", said)
        self.assertNotIn("ran kernel", said)

    def test_one_byte_of_any_input_makes_it_run(self):
        for name in ("code/a.c", "code/b.c", "Makefile"):
            self.ran("commit")
            self.assertEqual(self.ran("commit"), ["demo"])
            text = (self.root / name).read_text()
            self.write(name, text.replace(text[0], chr(ord(text[0]) ^ 1), 1))
            self.assertEqual(self.ran("commit"), ["demo", "kernel"], name)

    def test_a_file_that_came_moved_or_went_makes_it_run(self):
        self.ran("commit")
        self.write("code/c.c", "int c;\n")
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])
        (self.root / "code/c.c").rename(self.root / "code/d.c")
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])
        (self.root / "code/d.c").unlink()
        # As it was at first; only the last pass is remembered.
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])

    def test_its_command_and_versions_are_inputs(self):
        self.ran("commit")
        self.write(".ci/stages.toml", STAGES.replace("echo ran kernel;", "echo ran kernel ;"))
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])
        self.write("../version", "2\n")
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])
        (self.root / "../version").unlink()
        for _ in range(2):
            self.assertEqual(self.ran("commit"), ["demo", "kernel"], "an unknown version is never the same")

    def test_always_means_every_commit_and_the_gate_resumes(self):
        self.assertEqual(self.ran("gate"), ["demo", "kernel", "gate-only"])
        self.assertEqual(self.ran("commit"), ["demo"])
        self.assertEqual(self.ran("gate"), [])
        self.assertEqual(self.ran("gate", "--all"), ["demo", "kernel", "gate-only"])
        self.assertEqual(self.ran("kernel"), ["kernel"], "a stage that is named runs")

    def test_listing_runs_nothing(self):
        self.assertEqual(self.ran("commit", "--list"), [])
        self.assertFalse((self.root / ".ci/passed.json").exists())


class Failing(Tree):
    def test_the_first_failure_ends_it_and_says_how_to_run_it_alone(self):
        self.write("broken", "")
        status, said = self.check("gate")
        self.assertEqual(status, 1)
        self.assertNotIn("ran gate-only", said)
        self.assertIn("check: FAILED: kernel; alone: echo ran kernel; test ! -e broken", said)
        self.assertIn("stages: 1 passed, 1 failed", said)
        self.assertIn("ran gate-only", self.check("gate", "--keep-going")[1])

    def test_a_failure_is_not_remembered_and_does_not_forget(self):
        self.ran("commit")
        passed = self.passed("kernel")
        self.write("broken", "")
        self.write("Makefile", "none:\n")
        self.assertEqual(self.check("commit")[0], 1)
        self.assertEqual(self.passed("kernel"), passed)
        (self.root / "broken").unlink()
        self.assertEqual(self.ran("commit"), ["demo", "kernel"])

    def test_a_stage_that_changes_its_inputs_has_not_checked_them(self):
        self.write(".ci/stages.toml", STAGES.replace("echo ran kernel;", "echo ran kernel; echo >>Makefile;"))
        for _ in range(2):
            self.assertEqual(self.ran("commit"), ["demo", "kernel"])

    def test_mistakes_are_told_and_nothing_runs(self):
        mistakes = {
            ('name = "kernel"', 'name = "demo"'): "there are two of the name demo",
            ('inputs = ["code"]', 'input = ["code"]'): "stage gate-only: unknown key input",
            ('"@code"', '"@cod"'): "stage kernel: there is no set @cod",
            ('tiers = ["gate"]', 'tiers = ["gat"]'): "stage gate-only: there is no tier gat",
            ("always = true", 'always = "yes"'): "always is 'yes', expected bool",
            ('"Makefile"]', '"Makefil"]'): "stage kernel: the input Makefil names no file",
            ("[[stage]]", "[[stage"): "stages.toml",
        }
        for (before, after), words in mistakes.items():
            self.write(".ci/stages.toml", STAGES.replace(before, after, 1))
            status, said = self.check("gate")
            self.assertNotEqual(status, 0, words)
            self.assertIn(words, said)
            self.assertNotIn("ran ", said)
        self.write(".ci/stages.toml", STAGES)
        self.assertIn("there is no tier and no stage kernels; expected one of", self.check("kernels")[1])


class Preparing(Tree):
    def test_what_is_prepared_ends_with_the_check_and_all_that_it_started(self):
        prepare = '\nprepare = "sleep 300 & echo $! >../pid; wait"'
        run = 'run = "while ! test -s ../pid; do sleep 0.1; done"'
        self.write(".ci/stages.toml", STAGES.replace('run = "echo ran demo"', run + prepare))
        self.assertEqual(self.ran("demo"), [])
        started = pathlib.Path("/proc", (self.root / "../pid").read_text().strip())
        deadline = time.monotonic() + 20
        while self.runs(started) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse(self.runs(started))

    def runs(self, process):
        """Whether it is there, and not a dead process that its parent has not asked about."""
        try:
            return "State:\tZ" not in (process / "status").read_text()
        except OSError:
            return False


class Beside(Tree):
    def setUp(self):
        super().setUp()
        self.stages = STAGES.replace("echo ran kernel;", "until test -e ../began; do sleep 0.1; done;")
        self.stages = self.stages.replace('versions = ["cat ../version"]', "beside = true")
        self.write(".ci/stages.toml", self.stages.replace("echo ran demo", "echo ran demo; touch ../began"))

    def test_it_runs_beside_the_others_into_a_file_and_is_waited_for(self):
        status, said = self.check("commit")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, "kernel +0:0[0-9]  ok, in idle time beside others")
        self.assertEqual(self.ran("gate"), ["gate-only"], "both passes are remembered")
        self.assertTrue((self.root / "target/check/kernel.log").exists())

    def test_its_class_is_idle(self):
        self.write(".ci/stages.toml", self.stages.replace("until test -e ../began; do sleep 0.1; done", "chrt -p 0"))
        self.assertEqual(self.check("commit")[0], 0)
        self.assertIn("SCHED_IDLE", (self.root / "target/check/kernel.log").read_text())

    def test_its_failure_is_shown_with_the_end_of_its_output(self):
        self.write("broken", "")
        self.write(".ci/stages.toml", self.stages.replace("until test -e ../began; do sleep 0.1; done", "echo trouble"))
        status, said = self.check("commit")
        self.assertEqual(status, 1, said)
        self.assertIn("trouble", said)
        self.assertIn("check: FAILED: kernel; alone: echo trouble; test ! -e broken", said)

    def test_the_first_failure_ends_it(self):
        began = time.monotonic()
        run = 'run = "sleep 300; test'
        stages = self.stages.replace('run = "until test -e ../began; do sleep 0.1; done; test', run)
        self.write(".ci/stages.toml", stages.replace("echo ran demo", "exit 3"))
        status, said = self.check("commit")
        self.assertEqual(status, 1, said)
        self.assertIn("stages: 0 passed, 1 failed", said)
        self.assertLess(time.monotonic() - began, 60)

    def test_alone_or_traced_it_runs_in_the_terminal(self):
        self.write("../began", "")
        self.write(".ci/stages.toml", self.stages.replace("test ! -e broken", "echo ran kernel"))
        self.assertEqual(self.ran("kernel"), ["kernel"])


class Tracing(Tree):
    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_a_file_that_no_input_names_is_found(self):
        self.assertEqual(self.ran("gate-only", "--trace"), ["gate-only"])
        self.assertEqual(self.ran("gate"), ["demo", "kernel"], "a traced pass is a pass")
        self.write(".ci/stages.toml", STAGES.replace("echo ran gate-only", "cat README.md code/a.c"))
        status, said = self.check("gate-only", "--trace")
        self.assertEqual(status, 1, said)
        self.assertIn("gate-only: opens README.md, which is not among its inputs", said)
        self.assertNotIn("opens code/a.c", said)
        self.assertIn("check: FAILED: gate-only", said)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_a_file_of_which_only_a_part_counts(self):
        part = 'inputs = ["code"]\nreads = ["README.md"]\nversions = ["head -n 1 README.md"]'
        stages = STAGES.replace("echo ran gate-only", "echo ran gate-only; cat README.md > read")
        self.write(".ci/stages.toml", stages.replace('inputs = ["code"]', part))
        self.write(".gitignore", "__pycache__/\n/target\nread\n")
        self.assertEqual(self.ran("gate-only", "--trace"), ["gate-only"])
        self.ran("gate")
        self.write("README.md", "A tree.\nWith a second line.\n")
        self.assertEqual(self.ran("gate"), ["demo"], "the demo has all files as its inputs")
        self.write("README.md", "Another tree.\n")
        self.assertEqual(self.ran("gate"), ["demo", "gate-only"])
        self.write(".ci/stages.toml", stages.replace('inputs = ["code"]', part.replace("README.md", "NONE", 1)))
        status, said = self.check("gate-only")
        self.assertNotEqual(status, 0, said)
        self.assertIn("NONE", said)


unittest.main()
