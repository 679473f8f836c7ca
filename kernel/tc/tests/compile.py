#!/usr/bin/env python3
"""Turns tc-testing cases into one shell script that needs neither Python nor a host.

The cases are in the format of the kernel's tools/testing/selftests/tc-testing, and run there
too; the guests in which they are run here have a shell, `ip` and `tc` only.

Usage: compile.py CASES.json > cases.sh
"""

import json
import re
import shlex
import sys

FIELDS = {
    "id": str,
    "name": str,
    "category": list,
    "plugins": dict,
    "setup": list,
    "cmdUnderTest": str,
    "expExitCode": str,
    "verifyCmd": str,
    "matchPattern": str,
    "matchCount": str,
    "teardown": list,
}

# What Python's expressions and `grep -E` read differently, or grep cannot.
NOT_PORTABLE = re.compile(r"\\[a-zA-Z0-9]|\(\?|[*+?}]\?|\n")


def problem(case, seen):
    """What is wrong with a case, or None."""
    for field, kind in FIELDS.items():
        if not isinstance(case.get(field), kind):
            return f"{field}: found {case.get(field)!r}, expected a {kind.__name__}"
    if set(case) != set(FIELDS):
        return f"unknown fields {sorted(set(case) - set(FIELDS))}"
    if not re.fullmatch("[0-9a-f]{4}", case["id"]) or case["id"] in seen:
        return "id: expected four hexadecimal digits that no other case has"
    if not case["matchCount"].isdigit() or not case["expExitCode"].isdigit():
        return "matchCount and expExitCode: expected numbers"
    if NOT_PORTABLE.search(case["matchPattern"]):
        return f"matchPattern: {case['matchPattern']!r} is not read alike by grep -E"
    if ".*" in case["matchPattern"] and int(case["matchCount"]) > 1:
        return "matchPattern: with .* a count above 1 depends on how lines are cut"
    negative = case["expExitCode"] != "0"
    if negative != case["name"].startswith("Negative: "):
        return "name: those that must fail, and only those, begin with 'Negative: '"
    return None


def steps(commands, where):
    """Set-up or tear-down: each command must leave one of its exit codes, 0 if it names none."""
    lines = []
    for command in commands:
        text, codes = (command[0], command[1:]) if isinstance(command, list) else (command, [0])
        wanted = " ".join(str(code) for code in codes)
        lines.append(f"step {where} {shlex.quote(wanted)} {shlex.quote(text)}")
    return lines


def function(case):
    """The shell function of one case."""
    return "\n".join(
        [
            f"case_{case['id']}() {{",
            *steps(case["setup"], "setup"),
            f"under_test {case['expExitCode']} {shlex.quote(case['cmdUnderTest'])}",
            f"verify {case['matchCount']} {shlex.quote(case['matchPattern'])}"
            f" {shlex.quote(case['verifyCmd'])}",
            *steps(case["teardown"], "teardown"),
            "}",
        ]
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    seen = set()
    for case in cases:
        wrong = problem(case, seen)
        if wrong:
            sys.exit(f"{sys.argv[1]}: case {case.get('id')}: {wrong}")
        seen.add(case["id"])
    print("# Made by compile.py; read by run.sh.\n")
    for case in cases:
        print(function(case), end="\n\n")
    print("all_cases() {\ncat <<'END'")
    for case in cases:
        print(case["id"], case["name"])
    print("END\n}")


main()
