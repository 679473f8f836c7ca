"""Proves inputs: runs stages under strace, and names what they open and do not declare."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import inputs
from run import say

# strace -ff -y: a call that opens or executes, with the directory that a relative path starts from.
CALL = re.compile(
    r'^(?:open|openat|openat2|execve)\((?:AT_FDCWD(?:<(?P<cwd>[^>]*)>)?, |\d+<(?P<dir>[^>]*)>, )?"(?P<path>[^"]*)"'
)


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


def prove(root, chosen):
    """The exit status: 1 if a stage fails, or opens a file of the tree that its inputs do not name."""
    if shutil.which("strace") is None:
        say("error: there is no strace; install the package strace")
        return 2
    tracked = set(inputs.tracked(root))
    status = 0
    for stage, _ in chosen:
        say(f"{stage.name}: {stage.run}, traced")
        with tempfile.TemporaryDirectory() as logs:
            # A build with an empty target folder: what cargo does not read again is not seen.
            command = ["strace", "-ff", "-y", "--seccomp-bpf", "-e", "trace=open,openat,openat2,execve"]
            command += ["-o", f"{logs}/log", "sh", "-c", stage.run]
            code = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL).returncode
            found = {name for log in pathlib.Path(logs).iterdir() for name in opened(root, log)}
        if code != 0:
            say(f"{stage.name}: FAILED ({code})")
            status = 1
        declared = set(inputs.files(root, stage))
        missing = sorted((found & tracked) - declared - {inputs.RECORD})
        never = len(declared - found)
        say(f"{stage.name}: opened {len(found & tracked)} files of the tree, {never} declared ones were not opened")
        for name in missing:
            say(f"{stage.name}: opens {name}, which is not among its inputs")
            status = 1
    return status
