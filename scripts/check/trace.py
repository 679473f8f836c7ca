"""Proves inputs: runs a stage under strace, and names what it opens and does not declare."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import inputs

# strace -ff -y: a call that opens or executes, with the directory that a relative path starts from.
CALL = re.compile(
    r'^(?:open|openat|openat2|execve)\((?:AT_FDCWD(?:<(?P<cwd>[^>]*)>)?, |\d+<(?P<dir>[^>]*)>, )?"(?P<path>[^"]*)"'
)


def is_possible():
    """Whether there is strace."""
    return shutil.which("strace") is not None


def opened(root, log):
    """The tree's files that one process opened and found."""
    for line in log.read_text(errors="replace").splitlines():
        call = CALL.match(line)
        if call is None or " = -1 " in line:
            continue
        path = pathlib.Path(call["cwd"] or call["dir"] or root, call["path"])
        try:
            yield str(path.resolve().relative_to(root))
        except ValueError:
            pass


def run(root, stage):
    """The stage's exit status, and a complaint for each file of the tree that it opens and does not name.

    A build with a full target folder does not read again what has not changed: from an empty one more is
    seen.
    """
    with tempfile.TemporaryDirectory() as logs:
        command = ["strace", "-ff", "-y", "--seccomp-bpf", "-e", "trace=open,openat,openat2,execve"]
        command += ["-o", f"{logs}/log", "sh", "-c", stage.run]
        code = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL).returncode
        found = {name for log in pathlib.Path(logs).iterdir() for name in opened(root, log)}
    declared = inputs.files(root, stage) + (inputs.tracked(root, stage.reads) if stage.reads else [])
    undeclared = found.intersection(inputs.tracked(root)).difference(declared)
    return code, [f"opens {name}, which is not among its inputs" for name in sorted(undeclared)]
