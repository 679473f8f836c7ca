#!/usr/bin/env python3
"""Builds the page: build.py PROGRAM.wasm FOLDER

Writes FOLDER/playground.html, one file with everything inside, and FOLDER/site, the same as files for a web
server with a strict content security policy.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export ", re.M)


def modules(entry):
    """The text of a module and of all that it imports, those first."""
    found = {}

    def visit(name):
        if name in found:
            return
        text = (HERE / "page" / f"{name}.js").read_text()
        found[name] = None
        for other in IMPORT.findall(text):
            visit(other)
        del found[name]
        found[name] = EXPORT.sub("", IMPORT.sub("", text))

    visit(entry)
    return found


def script(entry):
    """A module and all that it imports as one script. In strict mode a block refuses a name that two modules
    declare."""
    body = "\n".join(modules(entry).values())
    return '(() => {\n"use strict";\n{\n' + body + "}\n})();\n"


def block(kind, name, text):
    """Data in the page; it is not run."""
    return f'<script type="{kind}" id="{name}">{text.replace("</", "<" + chr(92) + "/")}</script>'


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def filled(page, **parts):
    for name, text in parts.items():
        mark = f"@{name}@"
        assert page.count(mark) == 1, mark
        page = page.replace(mark, text)
    return page


def policy(**rules):
    rules = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "img-src": "data: blob:",
             **{name.replace("_", "-"): rule for name, rule in rules.items()}}
    return "; ".join(f"{name} {rule}" for name, rule in rules.items())


def main(wasm, folder):
    program = pathlib.Path(wasm).read_bytes()
    folder = pathlib.Path(folder)
    page = (HERE / "page" / "index.html").read_text()
    style = (HERE / "page" / "style.css").read_text()
    stories = {path.stem: path.read_text() for path in sorted((HERE / "stories").glob("*.toml"))}
    stories = block("application/json", "stories", json.dumps(stories))
    app, worker = script("app"), script("worker")
    packed = base64.b64encode(gzip.compress(program, 9, mtime=0)).decode()

    data = "\n".join([stories, block("text/plain", "worker", worker), block("text/plain", "program", packed)])
    whole = filled(
        page,
        csp=policy(script_src=f"{digest(app)} blob: 'wasm-unsafe-eval'", worker_src="blob:", style_src=digest(style)),
        style=f"<style>{style}</style>", data=data, script=f"<script>{app}</script>",
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "playground.html").write_text(whole)

    site = folder / "site"
    site.mkdir(exist_ok=True)
    own = "'self'"
    (site / "index.html").write_text(filled(
        page,
        csp=policy(script_src=f"{own} 'wasm-unsafe-eval'", worker_src=own, style_src=own, connect_src=own),
        style='<link rel="stylesheet" href="style.css">', data=stories, script='<script src="app.js" defer></script>',
    ))
    for name, text in {"app.js": app, "worker.js": worker, "style.css": style}.items():
        (site / name).write_text(text)
    (site / "playground.wasm").write_bytes(program)
    size = (folder / "playground.html").stat().st_size
    print(f"{folder}/playground.html: {size:,} bytes; {site}: the same for a web server")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
