"""What scenarios can name, and disciplines and controls of one's own."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import pandas as pd

from analects import _core
from analects.errors import Refused

_Class = TypeVar("_Class", bound=type)

#: Held by a run while classes of Python are registered: a failure then belongs to one run.
own = threading.Lock()
#: Whether any is.
_registered: set[str] = set()


def _all() -> dict[str, list[dict[str, Any]]]:
    described: dict[str, list[dict[str, Any]]] = json.loads(_core.describe())
    return described


def disciplines() -> pd.DataFrame:
    """The queue disciplines: a line about each, by name."""
    return _frame(_all()["disciplines"], ["summary", "source"])


def controls() -> pd.DataFrame:
    """The congestion controls: a line about each, by name."""
    return _frame(_all()["controls"], ["summary", "source"])


def workloads() -> pd.DataFrame:
    """The kinds of traffic: a line about each and its presets, by name."""
    return _frame(_all()["workloads"], ["summary", "presets", "source"])


def metrics() -> pd.DataFrame:
    """The metrics: unit, which way is better, the statistic of tables, and a line about each, by name."""
    return _frame(_all()["metrics"], ["unit", "better", "statistic", "summary"])


def experiments() -> pd.DataFrame:
    """The experiments that `analects-campaign` can run, by name."""
    return _frame(json.loads(_core.experiments()), ["summary", "has_runs", "needs_linux"])


def _frame(entries: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(entries).set_index("name")[columns]


def describe(name: str) -> dict[str, Any]:
    """All about a discipline, a control, a kind of traffic or a metric: its parameters with defaults and ranges.

    Raises:
        Refused: If nothing has this name.
    """
    everything = _all()
    for entries in everything.values():
        for entry in entries:
            if entry["name"] == name:
                return entry
    known = ", ".join(entry["name"] for kind in ("disciplines", "controls") for entry in everything[kind])
    raise Refused(f"there is nothing called {name!r}", f"disciplines and controls are: {known}")


def is_own_used() -> bool:
    """Whether a class of Python is registered."""
    return bool(_registered)


def discipline(name: str, summary: str = "a discipline in Python") -> Callable[[_Class], _Class]:
    """Registers a class as the queue discipline `name`, for trying an idea: far slower than one in Rust.

    The class is made for each queue: `Class(link, **settings)`, with `link.rate` (bits a second or None),
    `link.buffer` (packets or None), `link.seed`, and the settings of a scenario as texts; once more before all runs,
    to check the settings, without rate and buffer. It has the methods

    - `enqueue(now, packet)`: takes a packet; returns the packets to drop: None, one, or a list;
    - `dequeue(now)`: returns a packet to send, or None if none waits;
    - `next_wake(now)`, if `dequeue` may return None though packets wait: when to ask again, or None.

    Times are in seconds since the run began. What a method raises ends the run and is raised by `run`.

    Raises:
        Refused: If the class lacks a method, or sixteen are registered.
    """
    return _registering("discipline", name, summary, ["enqueue", "dequeue"])


def control(name: str, summary: str = "a control in Python") -> Callable[[_Class], _Class]:
    """Registers a class as the congestion control `name` of TCP and QUIC flows, for trying an idea.

    The class is made for each sender: `Class(sender, **settings)`, with `sender.mss`,
    `sender.initial_window` (bytes) and `sender.seed`. It has the methods `on_ack(now, ack)`,
    `on_congestion(now, congestion)` and `on_timeout(now, in_flight)`, the attribute `window` (bytes that may
    be in flight), and if it paces itself `pacing_rate` (bits a second, or None).

    Raises:
        Refused: If the class lacks a method, or sixteen are registered.
    """
    return _registering("control", name, summary, ["on_ack", "on_congestion", "on_timeout"])


def _registering(kind: str, name: str, summary: str, methods: list[str]) -> Callable[[_Class], _Class]:
    if not isinstance(name, str) or not name.replace("_", "").replace("-", "").isalnum() or not name[0].isalpha():
        raise Refused(f"{name!r} is no name", "write letters, digits and _, a letter first", kind)

    def register(cls: _Class) -> _Class:
        for method in methods:
            if not callable(getattr(cls, method, None)):
                raise Refused(f"it has no method {method}", f"a {kind} has {', '.join(methods)}", cls.__name__)
        known = disciplines() if kind == "discipline" else controls()
        if name in known.index and name not in _registered:
            warnings.warn(f"{name} takes the place of the built-in {kind} of that name", stacklevel=2)
        with own:
            _core.register(kind, name, summary, cls)
            _registered.add(name)
        return cls

    return register
