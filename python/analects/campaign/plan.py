"""Plans: from names to jobs in a store."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from analects import _core, registry
from analects.errors import Refused
from analects.request import Scenario, read, request


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of a plan.

    Attributes:
        key: The hash of all that its result depends on.
        is_done: Whether the store had its result when the plan was made.
    """

    key: str
    is_done: bool


@dataclasses.dataclass(frozen=True)
class Plan:
    """Jobs, listed in a store.

    Attributes:
        name: What was asked for.
        store: The store's folder.
        jobs: Each once, in order.
        part_of: For each key the experiment that it was listed for; one entry for a scenario.
        program: The program `analects` that makes the jobs, where they are of another engine than the simulator.
    """

    name: str
    store: str
    jobs: tuple[Job, ...]
    part_of: Mapping[str, str]
    program: str | None = None

    def missing(self) -> list[str]:
        """Keys of the jobs whose results the store lacks now, in order."""
        return _core.missing(self.store, [job.key for job in self.jobs])


def plan(
    what: Scenario,
    store: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    disciplines: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    without: str | None = None,
    engine: str = "sim",
    program: str = "analects",
) -> Plan:
    """Lists the jobs of a plan in a store, which is made if need be.

    Args:
        what: A scenario's file or dict, an experiment's file, or the name of experiments.
        store: Where results are kept.
        quick: Experiments in their quick form.
        data: The folder of recorded traces and pages; by default what `ANALECTS_DATA` names.
        disciplines: As for `run`; the rest too. Experiments have their own.
        set: As for `run`.
        vary: As for `run`.
        seeds: As for `run`.
        seed: As for `run`.
        without: As for `run`.
        engine: `kernel` or `live`: then the program lists and makes the jobs of a file or of experiments.
        program: Its name or path; workers need it under the same.

    Raises:
        Refused: If the plan is wrong, or says what only a scenario can be told.
    """
    if engine != "sim":
        shape = {"--set": set, "--vary": vary, "--discipline": disciplines, "--seeds": seeds, "--seed": seed}
        said = [name for name, value in (shape | {"--without": without}).items() if value is not None]
        if said:
            raise Refused("only the simulator's jobs can be told that", "write it into the plan", ", ".join(said))
        if isinstance(what, Mapping):
            raise Refused("found a dict, expected a file or a name", "write the scenario to a file", "plan")
        return _by_program(os.fspath(what), os.fspath(store), engine, program, quick)
    shape = {
        "disciplines": disciplines,
        "set": set,
        "vary": vary,
        "seeds": seeds,
        "seed": seed,
        "without": without,
    }
    said = [name for name, value in shape.items() if value is not None]
    folder = os.fspath(store)
    recorded = os.environ.get("ANALECTS_DATA") if data is None else os.fspath(data)
    if isinstance(what, str) and not what.endswith(".toml"):
        return _experiments(what, folder, quick, recorded, said)
    file, content = read(what)
    if isinstance(content, str) and _is_experiment(content):
        _only_scenarios(said, file)
        listed = _core.list_jobs(json.dumps({"own": [file, content, quick]}), file, folder, recorded)
        return _made(file, folder, {file: listed})
    if quick:
        raise Refused("it is a scenario, which has no quick form", "give fewer seeds", "quick")
    words = request(
        what,
        disciplines=disciplines,
        set=set,
        vary=vary,
        seeds=10 if seeds is None else seeds,
        seed=1 if seed is None else seed,
        without=without,
    )
    listed = _core.list_jobs(json.dumps({"scenario": json.loads(words)}), file, folder, recorded)
    return _made(file, folder, {file: listed})


def _by_program(what: str, folder: str, engine: str, program: str, quick: bool) -> Plan:
    words = [program, "jobs", what, "--store", folder, "--engine", engine, "--list", *(["--quick"] if quick else [])]
    try:
        listed = subprocess.run(words, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise Refused("there is no such program", "name it with --program", program) from error
    except subprocess.CalledProcessError as error:
        raise Refused(error.stderr.strip(), None, f"{program} jobs") from error
    pairs = [line.split("\t")[:2] for line in listed.stdout.splitlines()]
    return dataclasses.replace(
        _made(what, folder, {what: [(key, state == "done") for key, state in pairs]}), program=program
    )


def _is_experiment(text: str) -> bool:
    try:
        return "title" in tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        # Read as a scenario, it is refused with the place.
        return False


def _only_scenarios(said: list[str], name: str) -> None:
    if said:
        raise Refused(f"{name} is an experiment, which defines its own", "leave it out", ", ".join(said))


def _experiments(name: str, folder: str, quick: bool, data: str | None, said: list[str]) -> Plan:
    _only_scenarios(said, name)
    listed = {}
    chosen = matching(name)
    needs_linux = registry.experiments()["needs_linux"]
    for one in chosen:
        if needs_linux[one] and len(chosen) > 1:
            warnings.warn(f"{one} is left out: it needs --engine kernel", stacklevel=3)
            continue
        listed[one] = _core.list_jobs(json.dumps({"experiments": [one, quick]}), one, folder, data)
    return _made(name, folder, listed)


def matching(name: str) -> list[str]:
    """The experiments that a name means: itself, or with `/all` those of a folder.

    Raises:
        Refused: If there is none.
    """
    known = list(registry.experiments().index)
    found = [one for one in known if one == name or (name.endswith("/all") and one.startswith(name[:-3]))]
    if not found:
        folders = ", ".join(sorted({f"{one.split('/')[0]}/all" for one in known}))
        raise Refused(f"there is no experiment {name!r}", f"analects.experiments() has them; there are: {folders}")
    return found


def _made(name: str, folder: str, listed: Mapping[str, Sequence[tuple[str, bool]]]) -> Plan:
    jobs: dict[str, Job] = {}
    part_of: dict[str, str] = {}
    for part, pairs in listed.items():
        for key, is_done in pairs:
            jobs.setdefault(key, Job(key, is_done))
            part_of.setdefault(key, part)
    return Plan(name, folder, tuple(jobs.values()), part_of)
