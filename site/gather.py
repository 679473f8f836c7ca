"""Copies the documents into a folder, and every file of the tree that a document links to.

    gather.py FOLDER

A link to a folder becomes one to a page that lists its files.
"""

import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r" *(```|~~~)[^ ]*")


def translated(text: str) -> str:
    """The text as Python-Markdown has it. What belongs to a list's entry has four spaces for each level, where CommonMark
    has the width of "- " or "1. "; the lines of code keep their own. A fence names a language and nothing else.
    """
    lines, added, mark = [], 0, ""
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if not mark:
            spaces = len(line) - len(line.lstrip(" "))
            added = max(0, 4 * round(spaces / 2.5) - spaces) if line.strip() else 0
            if fence:
                mark, line = fence.group(1), fence.group(0)
        elif fence and fence.group(1) == mark:
            mark = ""
        lines.append(" " * added + line if line else line)
    return "\n".join(lines)


def tracked() -> list[str]:
    """The files of the tree."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if pathlib.Path(name).is_file()]


def listing(folder: pathlib.Path, files: list[str]) -> str:
    """A page that lists a folder's files."""
    inside = [name for name in files if pathlib.Path(name).parent == folder]
    rows = "".join(f"- [{pathlib.Path(name).name}]({pathlib.Path(name).name})\n" for name in inside)
    return f"# {folder}\n\n{rows}"


def copied(name: str, to: pathlib.Path) -> None:
    """Copies one file."""
    (to / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(name, to / name)


def gathered(to: pathlib.Path) -> None:
    """Copies pages, and then what they link to, until nothing is missing."""
    files = tracked()
    waiting = [name for name in files if name.endswith(".md") and (name.startswith("docs/") or "/" not in name)]
    known = set(waiting)
    root = pathlib.Path.cwd()
    while waiting:
        name = waiting.pop()
        if not name.endswith(".md"):
            copied(name, to)
            continue
        text = pathlib.Path(name).read_text()

        def followed(match: re.Match[str]) -> str:
            target, anchor = match.group(1), match.group(2) or ""
            if re.match(r"[a-z]+:", target):
                return match.group(0)
            place = (pathlib.Path(name).parent / target).resolve().relative_to(root)
            new = [str(place)]
            if place.is_dir():
                inside = place / "README.md"
                if not inside.is_file():
                    page = to / place / "README.md"
                    page.parent.mkdir(parents=True, exist_ok=True)
                    page.write_text(listing(place, files))
                    new = [other for other in files if pathlib.Path(other).parent == place]
                else:
                    new = [str(inside)]
                target = target.rstrip("/") + "/README.md"
            for other in new:
                if other not in known:
                    known.add(other)
                    waiting.append(other)
            return f"]({target}{anchor})"

        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(translated(LINK.sub(followed, text)))


if __name__ == "__main__":
    gathered(pathlib.Path(sys.argv[1]))
