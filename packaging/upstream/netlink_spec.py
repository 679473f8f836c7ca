#!/usr/bin/env python3
"""Adds mencius to Documentation/netlink/specs/tc.yaml, by its own header and the comments there.

    netlink_spec.py kernel/mencius/pkt_sched_mencius.h TREE/Documentation/netlink/specs/tc.yaml      prints the new one
"""

import re
import sys
from pathlib import Path

from one_file import read

# Names of sets of attributes, by what their names in C begin with; longer ones first.
SETS = {
    "TCA_MENCIUS_STATS_": "mencius-stats-attrs",
    "TCA_MENCIUS_HOST_": "mencius-host-attrs",
    "TCA_MENCIUS_FLOW_": "mencius-flow-attrs",
    "TCA_MENCIUS_": "mencius-attrs",
}
CHOICES = {"TC_MENCIUS_HOSTS_": "mencius-hosts", "TC_MENCIUS_FRAMING_": "mencius-framing"}


def dashed(name):
    return name.lower().strip("_").replace("_", "-")


def enums(header):
    """Of each enum in order: what its names begin with, and the rest of each name with its comment."""
    for body in re.findall(r"enum \{\n(.*?)\n\};", header, re.S):
        entries = re.findall(r"^\t(TCA?_\w+),(?:\s*/\* (.*?) \*/)?$", body, re.M)
        prefix = next(one for one in [*SETS, *CHOICES] if entries[0][0].startswith(one))
        yield prefix, [(name.removeprefix(prefix), comment) for name, comment in entries]


def attribute(name, comment):
    """The lines of an attribute, by a comment as `u32: bytes`, `nested: of a class` or `u8: TC_MENCIUS_HOSTS_...`."""
    lines = ["      -", f"        name: {dashed(name)}"]
    kind, _, doc = comment.partition(":")
    if name == "PAD":
        return [*lines, "        type: pad"]
    if kind == "nested":
        return [*lines, "        type: nest", f"        nested-attributes: mencius-{dashed(name)}-attrs"]
    if kind not in ["u8", "u32", "s32", "u64", "binary"]:
        sys.exit(f"netlink_spec.py: {name}: expected a type and a colon in its comment, found {comment!r}")
    lines.append(f"        type: {kind}")
    doc = re.sub(r"\bms\b", "milliseconds", re.sub(r"\bus\b", "microseconds", doc.strip()))
    if choice := next((choice for prefix, choice in CHOICES.items() if doc.startswith(prefix)), None):
        return [*lines, f"        enum: {choice}"]
    return [*lines, f'        doc: "{doc[0].upper()}{doc[1:]}"'] if doc else lines


def before(text, line, added):
    """The text with lines in front of the only entry of a list that has this line."""
    if text.count(f"\n{line}\n") != 1:
        sys.exit(f"netlink_spec.py: expected once in tc.yaml: {line}")
    at = text.rindex("\n", 0, text.index(f"\n{line}\n")) + 1
    return text[:at] + "".join(f"{one}\n" for one in added) + text[at:]


def spec(header, text):
    choices, sets = [], []
    for prefix, entries in enums(header):
        if prefix in CHOICES:
            names = ", ".join(dashed(name) for name, _ in entries)
            choices += ["  -", f"    name: {CHOICES[prefix]}", "    type: enum", f"    entries: [{names}]"]
            continue
        sets += ["  -", f"    name: {SETS[prefix]}", f"    name-prefix: {prefix.lower().replace('_', '-')}"]
        sets.append("    attributes:")
        for name, comment in entries:
            if name != "UNSPEC":
                sets += attribute(name, comment)
    text = before(text, "    name: tc-stats", choices)
    text = before(text, "    name: netem-attrs", sets)
    options, stats = text.split("    name: tca-stats-app-msg\n")
    uses = ["      -", "        value: mencius"]
    options = before(options, "        value: mqprio", [*uses, "        attribute-set: mencius-attrs"])
    stats = before(stats, "        value: pie", [*uses, "        attribute-set: mencius-stats-attrs"])
    return f"{options}    name: tca-stats-app-msg\n{stats}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(spec("\n".join(read(Path(sys.argv[1]))), Path(sys.argv[2]).read_text()), end="")


if __name__ == "__main__":
    main()
