import tomllib

from conftest import ROOT


def versions(path):
    locked = {}
    for package in tomllib.loads(path.read_text())["package"]:
        locked.setdefault(package["name"], set()).add(package["version"])
    return locked


def test_both_locks_have_the_same_versions():
    """Results depend on them; the program's keys hash the tree's lock."""
    theirs = versions(ROOT / "Cargo.lock")
    ours = versions(ROOT / "python/Cargo.lock")
    differ = {name: (some, theirs[name]) for name, some in ours.items() if name in theirs and not some <= theirs[name]}
    assert not differ
