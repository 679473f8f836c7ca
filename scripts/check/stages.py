"""What `.ci/stages.toml` says: the stages, and the command of each in a tier."""

import dataclasses
import tomllib

TIERS = ("commit", "gate")


class Mistake(Exception):
    """Something in the file, or in the words of the command line, that cannot be meant."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """One check, with the command that it is in a tier."""

    name: str
    run: str
    # What it finds does not depend on what else runs: it runs in idle time beside the others.
    beside: bool


def choose(path, words):
    """The stages that the words mean: a tier, or names."""
    tier = "commit" if words == ["commit"] else "gate"
    table = load(path, tier)
    if words == [tier]:
        return list(table.values())
    for word in words:
        if word not in table:
            raise Mistake(f"there is no stage {word}; expected commit, gate, or of {', '.join(table)}")
    return [table[word] for word in words]


def load(path, tier):
    """The tier's stages by name, in the order of the file."""
    try:
        text = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{path}: {error}") from error
    table = {}
    for entry in text.pop("stage", []):
        name, commands, beside = read(path, entry)
        if name in table or name in TIERS:
            raise Mistake(f"{path}: there are two of the name {name}")
        # The gate has measurements of speed, so that nothing runs beside another there.
        table[name] = Stage(name, commands.get(tier, ""), beside and tier == "commit")
    if text:
        raise Mistake(f"{path}: unknown key {next(iter(text))}, expected [[stage]]")
    return {name: stage for name, stage in table.items() if stage.run}


def read(path, entry):
    """A stage's name, its command in each tier, and whether it runs beside others."""
    name = entry.get("name", "without a name")
    kinds = {"name": str, "run": str, "commit": str, "gate": str, "beside": bool}
    for key, value in entry.items():
        if key not in kinds:
            raise Mistake(f"{path}: stage {name}: unknown key {key}")
        if not isinstance(value, kinds[key]):
            raise Mistake(f"{path}: stage {name}: {key} is {value!r}, expected {kinds[key].__name__}")
    commands = {tier: entry[tier] for tier in TIERS if tier in entry}
    if ("run" in entry) == bool(commands):
        raise Mistake(f"{path}: stage {name}: expected either run, or commit and gate")
    return name, commands or dict.fromkeys(TIERS, entry["run"]), entry.get("beside", False)
