"""What has passed on this commit, so that a gate of hours can be resumed."""

import pathlib
import subprocess

# A line for each pass: the tree's hash, and the stage. In a folder that git ignores.
FILE = pathlib.Path("target/check/passed")


def tree(root):
    """The hash that git has of all files, or nothing where one differs from what is committed."""

    def git(*words):
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout

    return None if git("status", "--porcelain") else git("rev-parse", "HEAD^{tree}").strip()


def passed(root):
    """The stages that have passed on the tree as it is."""
    file, now = root / FILE, tree(root)
    lines = file.read_text().splitlines() if file.exists() else []
    return {line.split()[1] for line in lines if line.split()[0] == now}


def remember(root, stage, before):
    """Remembers a pass if the tree is what it was before the stage."""
    if before and tree(root) == before:
        (root / FILE).parent.mkdir(parents=True, exist_ok=True)
        with (root / FILE).open("a") as file:
            file.write(f"{before} {stage.name}\n")
