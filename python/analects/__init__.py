"""Queue disciplines that keep real-time traffic smooth: run, compare and plot them from Python.

import analects
results = analects.run("scenario.toml", disciplines=["fq_codel", "cake", "mencius"], seeds=30)
results.runs
print(results.compare("stall", "mencius", "cake"))
"""

from importlib.metadata import version

from analects._core import Packet
from analects.errors import Refused
from analects.registry import (
    control,
    controls,
    describe,
    discipline,
    disciplines,
    experiments,
    metrics,
    workloads,
)
from analects.results import Comparison, Results
from analects.running import run
from analects.store import read_store, write_parquet

__version__ = version("analects")

__all__ = [
    "Comparison",
    "Packet",
    "Refused",
    "Results",
    "control",
    "controls",
    "describe",
    "discipline",
    "disciplines",
    "experiments",
    "metrics",
    "read_store",
    "run",
    "workloads",
    "write_parquet",
]
