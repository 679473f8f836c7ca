#!/bin/sh
# The playground: its modules in node, its figures against the command line's, and the page in a real browser.
#
#   test-playground.sh [chromium|firefox]...
# Without a browser named, both. SHOTS=FOLDER takes pictures of all stories.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- chromium firefox
command -v node >/dev/null || sh scripts/apt.sh nodejs
sh scripts/playground.sh
node --test playground/tests/unit.test.mjs
analects=$(sh scripts/built.sh analects)
node playground/tests/equal.mjs "$analects"

work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-playground.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$analects" run scenarios/page-during-call.toml --repeat 1 --report "$work/report.html" >/dev/null
for browser in "$@"; do
    case $browser in firefox) program=firefox-esr ;; *) program=$browser ;; esac
    command -v "$program" >/dev/null || sh scripts/apt.sh "$program"
    REPORT="$work/report.html" node playground/tests/browser.mjs "$browser" ${SHOTS:+"$SHOTS"}
done
