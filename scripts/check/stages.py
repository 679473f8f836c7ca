"""What `.ci/stages.toml` says: the stages, and which of them a tier has."""

import dataclasses
import tomllib

TIERS = ("commit", "gate")


class Mistake(Exception):
    """Something in the file, or in the words of the command line, that cannot be meant."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """One check: a command, and the files that decide what it finds."""

    name: str
    run: str
    tiers: tuple[str, ...]
    # Paths of the tree; a folder stands for everything in it. All files where there are none.
    inputs: tuple[str, ...]
    # Files that it opens, of which `versions` has what counts.
    reads: tuple[str, ...]
    # Commands whose output is an input as well: versions of what the tree does not contain.
    versions: tuple[str, ...]
    # Never skipped in the tier "commit".
    always: bool
    # A command that fetches what the stage needs: run beside the stages before it. Empty where there is none.
    prepare: str
    # What it finds does not depend on what else runs: it may run beside others, in idle time.
    beside: bool


def load(path):
    """The stages of the file, in their order. A key that nobody knows is a mistake."""
    try:
        text = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{path}: {error}") from error
    sets = text.pop("sets", {})
    table = {}
    for entry in text.pop("stage", []):
        stage = read_stage(path, entry, sets)
        if stage.name in table or stage.name in TIERS:
            raise Mistake(f"{path}: there are two of the name {stage.name}")
        table[stage.name] = stage
    if text:
        raise Mistake(f"{path}: unknown key {next(iter(text))}, expected [sets] or [[stage]]")
    return table


def read_stage(path, entry, sets):
    name = entry.get("name", "without a name")

    def take(key, kind, default=None):
        value = entry.pop(key, default)
        if not isinstance(value, kind):
            raise Mistake(f"{path}: stage {name}: {key} is {value!r}, expected {kind.__name__}")
        return value

    def expand(word):
        if not word.startswith("@"):
            return [word]
        if word[1:] not in sets:
            raise Mistake(f"{path}: stage {name}: there is no set {word}")
        return [path for inner in sets[word[1:]] for path in expand(inner)]

    def paths(key):
        return tuple(path for word in take(key, list, []) for path in expand(word))

    stage = Stage(
        name=take("name", str),
        run=take("run", str),
        tiers=tuple(take("tiers", list, list(TIERS))),
        inputs=paths("inputs"),
        reads=paths("reads"),
        versions=tuple(take("versions", list, [])),
        always=take("always", bool, False),
        prepare=take("prepare", str, ""),
        beside=take("beside", bool, False),
    )
    if entry:
        raise Mistake(f"{path}: stage {name}: unknown key {next(iter(entry))}")
    for tier in stage.tiers:
        if tier not in TIERS:
            raise Mistake(f"{path}: stage {name}: there is no tier {tier}")
    return stage


def choose(table, words):
    """The stages that the words name, as (stage, whether it may be skipped), without repetition."""
    chosen = {}
    for word in words:
        if word in TIERS:
            for stage in table.values():
                if word in stage.tiers:
                    chosen[stage.name] = (stage, word == "gate" or not stage.always)
        elif word in table:
            chosen[word] = (table[word], False)
        else:
            names = ", ".join((*TIERS, *table))
            raise Mistake(f"there is no tier and no stage {word}; expected one of {names}")
    return list(chosen.values())
