#!/bin/sh
# Renders docs/draft-analects-mencius.md as an Internet-Draft, in text and HTML, into target/draft. All
# references are in the file: nothing is fetched but the two programs, once.
set -eu
cd "$(dirname "$0")/.."
name=draft-analects-mencius
out=target/draft
tools=target/tools/xml2rfc-3.34.1

command -v kramdown-rfc >/dev/null || sh scripts/apt.sh ruby-kramdown-rfc2629
if [ ! -x "$tools/bin/xml2rfc" ]; then
    python3 -c 'import ensurepip' 2>/dev/null || sh scripts/apt.sh python3 python3-venv
    python3 -m venv "$tools"
    "$tools/bin/pip" --quiet --disable-pip-version-check install xml2rfc==3.34.1
fi

mkdir -p "$out"
kramdown-rfc --v3 "docs/$name.md" >"$out/$name-00.xml"
"$tools/bin/xml2rfc" --quiet --no-network --text --html --path "$out" "$out/$name-00.xml"
ls "$out/$name-00.txt" "$out/$name-00.html"
