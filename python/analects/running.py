"""Runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analects import _core, registry
from analects.request import Scenario, request, whole
from analects.results import Results


def run(
    scenario: Scenario,
    *,
    disciplines: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    seeds: int = 10,
    seed: int = 1,
    without: str | None = None,
    series: bool = False,
    store: str | os.PathLike[str] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Results:
    """Runs a scenario in the simulator: each discipline with each seed, as `analects run` does.

    The interpreter is free meanwhile; Ctrl-C ends it behind the runs that are going on.

    Args:
        scenario: A file, or its content as a dict.
        disciplines: What is compared, instead of what the scenario names; each with its settings,
            `"mencius,flows=4096"`.
        set: Values by path, such as `{"link.rate": "20mbit"}`.
        vary: Lists of values by path; every combination is run.
        seeds: How many runs there are of each, with seeds one after another.
        seed: The first of them.
        without: A traffic entry without which each run is made once more: the metrics `caused` and others
            compare with that.
        series: Whether to keep what happened over time: frames, shares, waits and classes.
        store: A folder in which results are kept, and looked for. The program `analects` uses the same.
        threads: Runs at a time; 0 means as many as there are processors.
        progress: Called with the number of runs that are done, and of all.

    Raises:
        Refused: If anything of it is wrong: where, what, and what to write instead.
    """
    words = request(scenario, disciplines=disciplines, set=set, vary=vary, seeds=seeds, seed=seed, without=without)
    at_a_time = whole(threads, 0, 1024, "threads")
    folder = None if store is None else os.fspath(store)
    with registry.own if registry.is_own_used() else contextlib.nullcontext():
        return Results(_core.run(words, series, folder, at_a_time, progress))
