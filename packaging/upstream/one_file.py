#!/usr/bin/env python3
"""Makes net/sched/sch_mencius.c of kernel/mencius and kernel/common: one file, as mainline has queue disciplines.

    one_file.py kernel/mencius/sch_mencius.c       prints it
    one_file.py --uapi kernel/mencius/pkt_sched_mencius.h      the part of include/uapi/linux/pkt_sched.h

What a first series does without stands in `#ifndef MENCIUS_RFC`. Lists of parameters are written out, what compat.h
spells for older kernels has mainline's name, and functions are no longer `inline`, since a compiler decides that.
"""

import re
import sys
from pathlib import Path

# Conditions that are decided here: whether what is in them stays.
DECIDED = {"#ifndef MENCIUS_RFC": False, "#ifdef __KERNEL__": True}
# Headers of ours that are mainline's in a tree.
INSTEAD = {
    "compat.h": ["net/gso.h", "linux/slab.h"],
    "unroll.h": ["linux/unroll.h"],
    "pkt_sched_mencius.h": ["net/pkt_sched.h"],
}
LIST = "mencius_params.h"
# Macros that are written out: of the list of parameters, and of the kinds in it.
WRITTEN_OUT = re.compile(r"(PARAM|AROUND|OWN|FLOW_(?:KIND|TYPE|VALUE)_\w+)\b(?:\(([^)]*)\))?")


def decided(lines):
    """The lines that stay; other conditions stay as they are."""
    kept, within = [], []
    for line in lines:
        words = re.sub(r"^#\s+", "#", line.strip())
        if words.startswith("#if"):
            guard = re.match(r"#ifndef __\w+_H$", words)
            within.append(True if guard else DECIDED.get(words))
            if within[-1] is not None:
                continue
        elif words.startswith("#else") and within[-1] is not None:
            within[-1] = not within[-1]
            continue
        elif words.startswith("#endif") and within.pop() is not None:
            continue
        if False not in within and not re.match(r"#define __\w+_H$", words):
            kept.append(line)
    return kept


def read(path):
    """The lines of a file without its licence, guards and what a first series has not."""
    text = path.read_text()
    text = re.sub(r"^(// SPDX.*|/\* SPDX.*\*/)\n", "", text)
    return decided(text.splitlines())


class OneFile:
    """The file as it grows."""

    def __init__(self):
        self.system, self.conditional, self.seen, self.macros, self.lines = set(), [], set(), {}, []

    def add(self, path):
        """Appends a file and, before what follows each include, what it includes."""
        self.seen.add(path.name)
        lines = read(path)
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if block := self.conditional_include(lines, at - 1):
                at += len(block) - 1
            elif system := re.match(r"#include <(.*)>", line):
                self.system.add(system[1])
            elif ours := re.match(r'#include "(.*)"', line):
                self.include(path.parent / ours[1])
            elif macro := re.match(r"#define " + WRITTEN_OUT.pattern + r"\s*", line):
                body = [line[macro.end() :]]
                while body[-1].endswith("\\"):
                    body.append(lines[at])
                    at += 1
                body = "\n".join(part.removesuffix("\\").rstrip() for part in body).removeprefix("\n")
                arguments = [name.strip() for name in (macro[2] or "").split(",")]
                self.macros[macro[1]] = arguments, body
            elif not re.match(r"#undef (PARAM|AROUND|OWN)$", line):
                self.lines.append(line)

    def conditional_include(self, lines, at):
        """An include that depends on the configuration goes to the others."""
        block = lines[at : at + 3]
        if len(block) == 3 and block[0].startswith("#if") and block[1].startswith("#include <") and block[2] == "#endif":
            self.conditional += block
            return block
        return None

    def include(self, path):
        if path.name == LIST:
            rows = " ".join(read(path)).split("*/", 1)[1]
            texts = [self.expanded(row[0]) for row in WRITTEN_OUT.finditer(rows)]
            self.lines += [line for text in texts if text for line in f"\t{text}".splitlines()]
        elif path.name in INSTEAD:
            self.system.update(INSTEAD[path.name])
        elif path.name not in self.seen:
            self.add(path)

    def expanded(self, text):
        """The text with all macros written out that are known."""

        def one(found):
            if found[1] not in self.macros:
                return found[0]
            names, body = self.macros[found[1]]
            values = [value.strip() for value in (found[2] or "").split(",")]
            for name, value in zip(names, values):
                if name:
                    body = re.sub(rf"(?:##)?\b{name}\b", value, body)
            # A number in parentheses is a number.
            text = re.sub(r"\((\d+|TC_\w+)\)", r"\1", self.expanded(body.lstrip()))
            return re.sub(r"= \((.*)\),$", r"= \1,", text)

        return WRITTEN_OUT.sub(one, text)

    def text(self):
        body = "\n".join(self.lines)
        head, body = body.split("*/\n", 1)
        includes = "".join(f"#include <{name}>\n" for name in sorted(self.system))
        includes += "".join(f"{line}\n" for line in self.conditional)
        return f"// SPDX-License-Identifier: GPL-2.0\n{head}*/\n\n{includes}\n{body}\n"


def columns(line):
    return len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())


def without_inline(text):
    """Functions are not `inline`; their further lines stay below the parenthesis."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if lines[at].startswith("static inline "):
            lines[at] = lines[at].replace("static inline ", "static ", 1)
            opened = lines[at].count("(") - lines[at].count(")")
            while opened > 0:
                at += 1
                column = columns(lines[at]) - len("inline ")
                lines[at] = "\t" * (column // 8) + " " * (column % 8) + lines[at].lstrip()
                opened += lines[at].count("(") - lines[at].count(")")
        at += 1
    return "\n".join(lines)


def without_absent_members(text):
    """Comments name only the members that are there."""

    def one(found):
        comment, struct = found[1], found[2]
        parts = re.split(r"(?m)^(?= \* @\w+:| \*/)", comment)
        kept = [part for part in parts if not (name := re.match(r" \* @(\w+):", part)) or re.search(rf"\b{name[1]}\b", struct)]
        return "".join(kept) + struct

    return re.sub(r"(?ms)(^/\*\*\n \* struct.*?^ \*/\n)(struct \w+ \{.*?^\};\n)", one, text)


def as_mainline(text):
    """What mainline has under another name, and what is one thing without `shared`."""
    text = re.sub(r"mn_counts\(\w+, ([^)]+)\)", r"\1", text)
    return re.sub(
        r"(?m)^(\t*)compat_set_pkt_len\((\w+), (\w+)\);",
        r"\1qdisc_skb_cb(\2)->pkt_len = \2->len;\n\1qdisc_skb_cb(\2)->pkt_segs = 1;\n"
        r"\1qdisc_calculate_pkt_len(\2, qdisc_root_bh(\3));",
        text,
    )


def tidy(text):
    return re.sub(r"\n{3,}", "\n\n", text).replace("{\n\n", "{\n").rstrip("\n") + "\n"


def one_file(path):
    made = OneFile()
    made.add(path)
    text = tidy(without_absent_members(without_inline(as_mainline(made.text()))))
    for word in ["compat_", "COMPAT_", "MENCIUS_RFC", '#include "', "shared)"]:
        if word in text:
            sys.exit(f"one_file.py: {word!r} is left in what was made of {path}")
    return text


def main():
    match sys.argv[1:]:
        case ["--uapi", path]:
            text = "\n".join(read(Path(path)))
            print(tidy(text.split("#include <linux/types.h>\n", 1)[1]), end="")
        case [path]:
            print(one_file(Path(path)), end="")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
