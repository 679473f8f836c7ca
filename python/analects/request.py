"""What is run, in the words of a scenario: every value as text, every mistake with its key."""

from __future__ import annotations

import json
import math
import operator
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analects.errors import Refused

#: A scenario: a file, or its content as a dict.
Scenario = str | os.PathLike[str] | Mapping[str, Any]

#: Longer files are no scenarios.
MOST_BYTES = 10_000_000


def text(value: object, key: str) -> str:
    """A value as a user would write it in a scenario.

    Raises:
        Refused: If it is neither text, number nor truth value, or no finite number.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused(f"{value} is no value", "write a finite number", key)
        return repr(value)
    if isinstance(value, str):
        return value
    # NumPy's numbers are Python's behind `item`.
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return text(item(), key)
    raise Refused(
        f"found {type(value).__name__}, expected text, a number, True or False",
        'write it as in TOML: "20mbit"',
        key,
    )


def table(value: object, key: str) -> object:
    """A scenario's part as plain dicts, lists and texts.

    Raises:
        Refused: As `text`, with the key's whole path; or if a key is no text.
    """
    if isinstance(value, Mapping):
        made = {}
        for name, inner in value.items():
            if not isinstance(name, str):
                raise Refused(f"the key {name!r} is {type(name).__name__}, expected text", "write a name", key or None)
            made[name] = table(inner, f"{key}.{name}" if key else name)
        return made
    if isinstance(value, (list, tuple)):
        return [table(inner, f"{key}[{place}]") for place, inner in enumerate(value)]
    return text(value, key)


def read(scenario: Scenario) -> tuple[str, object]:
    """The name in errors and the content: TOML, or a table.

    Raises:
        Refused: If there is no such file, or it is no text.
    """
    if isinstance(scenario, Mapping):
        return "scenario", table(scenario, "")
    if not isinstance(scenario, (str, os.PathLike)):
        raise Refused(
            f"found {type(scenario).__name__}, expected a path or a dict",
            "name a scenario's file",
            "scenario",
        )
    path = pathlib.Path(scenario)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Refused(f"it has more than {MOST_BYTES} bytes", "name a scenario's file", str(path))
        return str(path), path.read_text("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Refused(reason, "name a scenario, such as scenarios/page-during-call.toml", str(path)) from error
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start + 1}: not UTF-8 text", "name a scenario's file", str(path)) from error


def whole(value: object, least: int, most: int, key: str) -> int:
    """A whole number in a range.

    Raises:
        Refused: If it is none.
    """
    try:
        # NumPy's whole numbers are such, too; its truth values are none.
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise Refused(f"found {value!r}, expected a whole number from {least} to {most}", None, key)
    return number


def names(value: object, key: str) -> list[str]:
    """One text, or several.

    Raises:
        Refused: If it is something else.
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        listed = list(value)
        if all(isinstance(item, str) for item in listed):
            return listed
    raise Refused(f"found {value!r}, expected a list of texts", 'write ["fq_codel", "mencius"]', key)


def request(
    scenario: Scenario,
    *,
    disciplines: str | Sequence[str] | None,
    set: Mapping[str, Any] | None,
    vary: Mapping[str, Sequence[Any]] | None,
    seeds: int,
    seed: int,
    without: str | None,
) -> str:
    """All that `run` was told, as the core reads it: JSON.

    Raises:
        Refused: If anything of it cannot be meant.
    """
    file, content = read(scenario)
    settings = _mapping(set, "set")
    axes = _mapping(vary, "vary")
    values = {path: _values(given, path) for path, given in axes.items()}
    compared = [] if disciplines is None else names(disciplines, "disciplines")
    if disciplines is not None and not compared:
        raise Refused("found no discipline", "name one, or leave it out for the scenario's own", "disciplines")
    if without is not None and not isinstance(without, str):
        raise Refused(f"found {without!r}, expected a name of traffic", None, "without")
    return json.dumps(
        {
            "file": file,
            "scenario": content,
            "set": [(path, text(value, f"set: {path}")) for path, value in settings.items()],
            "vary": list(values.items()),
            "disciplines": compared,
            "seeds": (whole(seed, 0, 2**63, "seed"), whole(seeds, 1, 100_000, "seeds")),
            "without": without,
        }
    )


def _mapping(given: object, key: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(path, str) for path in given):
        raise Refused(f"found {given!r}, expected a dict by path", 'write {"link.rate": "20mbit"}', key)
    return given


def _values(given: object, path: str) -> list[str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise Refused(f"found {given!r}, expected a list of values", 'write ["5mbit", "10mbit"]', f"vary: {path}")
    values = [text(value, f"vary: {path}") for value in given]
    if not values:
        raise Refused("it has no values", "give one or more", f"vary: {path}")
    return values
