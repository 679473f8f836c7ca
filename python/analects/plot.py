"""Plots of results with matplotlib. Each function draws into the axes that it is given, or into new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from analects import registry
from analects.errors import Refused
from analects.results import Results


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def bars(results: Results, metric: str, *, axes: Any = None) -> Any:
    """A metric's mean for each discipline, with the 95 % interval where the runs suffice for one."""
    axes = _axes(axes)
    names = list(dict.fromkeys(results.runs["discipline"]))
    means, ends = [], []
    for name in names:
        mean, low, high = results.mean(metric, name)
        means.append(mean)
        ends.append((0.0, 0.0) if low is None or high is None else (mean - low, high - mean))
    axes.bar(names, means, yerr=np.transpose(ends), capsize=4)
    axes.set_ylabel(_label(metric))
    return axes


def ecdf(results: Results, metric: str, *, axes: Any = None) -> Any:
    """The share of a metric's values that are at most so large, a line for each discipline."""
    axes = _axes(axes)
    for name, of in results.values(metric).groupby("discipline", sort=False):
        axes.ecdf(of["value"], label=name)
    axes.set_xlabel(_label(metric))
    axes.set_ylabel("share of values")
    axes.legend()
    return axes


def delays(results: Results, *, seed: int | None = None, axes: Any = None) -> Any:
    """The delay of each frame of each call over time, a line for each discipline: of one seed, the first by default.

    Raises:
        Refused: If nothing was kept over time.
    """
    axes = _axes(axes)
    for (name, call), of in _one(results.frames, seed).groupby(["discipline", "call"], sort=False):
        axes.plot(of["time_s"], of["delay_ms"], label=f"{name}: {call}", linewidth=1)
    axes.set_xlabel("time, s")
    axes.set_ylabel("delay of frames, ms")
    axes.legend()
    return axes


def shares(results: Results, discipline: str, *, seed: int | None = None, axes: Any = None) -> Any:
    """What left the queues of each flow over time under one discipline.

    Raises:
        Refused: If nothing was kept over time, or there is no such discipline.
    """
    axes = _axes(axes)
    frame = _one(results.shares, seed)
    frame = frame[frame["discipline"] == discipline]
    if frame.empty:
        raise Refused(
            f"there is no run of {discipline!r}",
            f"there are: {', '.join(results.runs['discipline'].unique())}",
        )
    for (link, flow), of in frame.groupby(["link", "flow"], sort=False):
        axes.plot(of["time_s"], of["mbps"], label=f"{link}: {flow}", linewidth=1)
    axes.set_xlabel("time, s")
    axes.set_ylabel("Mbit/s")
    axes.legend(fontsize="small")
    return axes


def _one(frame: Any, seed: int | None) -> Any:
    chosen = frame["seed"].iloc[0] if seed is None else seed
    found = frame[frame["seed"] == chosen]
    if found.empty:
        raise Refused(f"there is no run with seed {seed}", None, "seed")
    return found


def _label(metric: str) -> str:
    unit = registry.describe(metric.split(":")[0])["unit"]
    return f"{metric}, {unit}" if unit else metric
