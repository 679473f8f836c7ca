"""A stage's inputs as one hash: the files that it names, by content, and versions of what is outside."""

import hashlib
import os
import subprocess

# What a pass is written into says nothing about the next one.
RECORD = ".ci/passed.json"


def tracked(root, paths=()):
    """The tree's files under these paths, or all: what git tracks, and what is new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True)
    names = sorted(set(listed.stdout.decode().split("\0")) - {"", RECORD})
    return [name for name in names if (root / name).is_file()]


def files(root, stage):
    """The files that are the stage's inputs."""
    return tracked(root, stage.inputs)


def digest(root, stage):
    """The hash of the stage's command, of its files and of the versions that it asks for."""
    whole = hashlib.sha256()

    def add(*parts):
        for part in parts:
            whole.update(len(part).to_bytes(8, "little") + part)

    add(stage.run.encode())
    for name in files(root, stage):
        add(name.encode(), (root / name).read_bytes())
    for command in stage.versions:
        said = subprocess.run(command, shell=True, cwd=root, capture_output=True, timeout=300)
        # What cannot be asked is never the same twice, so that the stage runs.
        add(command.encode(), said.stdout if said.returncode == 0 else os.urandom(16))
    return whole.hexdigest()[:32]


def unmatched(root, stage):
    """Inputs that name nothing: a file that moved would be forgotten in silence."""
    return [path for path in (*stage.inputs, *stage.reads) if not tracked(root, [path])]
