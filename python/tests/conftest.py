"""What tests share: a short scenario, and the program of this tree."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def scenario(**changes):
    """A call of four seconds beside a page of three flows."""
    return {
        "name": "short",
        "summary": "a call and a page",
        "duration": "4s",
        "warmup": "1s",
        "disciplines": ["pfifo", "fq_codel"],
        "link": {"rate": "5mbit", "rtt": "20ms"},
        "traffic": [
            {"name": "call", "kind": "call", "control": "gcc"},
            {"name": "page", "kind": "bulk", "start": "2s", "count": 3, "size": "60kB"},
        ],
    } | changes


@pytest.fixture
def short():
    return scenario()


@pytest.fixture(scope="session")
def program():
    """Runs the program `analects` of this tree."""
    path = os.environ["ANALECTS"]

    def run(*words):
        return subprocess.run([path, *map(str, words)], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    return run
