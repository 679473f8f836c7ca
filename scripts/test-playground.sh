#!/bin/sh
# The playground: its modules in node, its figures against the command line's, and the page in a real browser.
#
#   [BROWSERS=chromium] test-playground.sh
# In Chromium and Firefox, or one of them. SHOTS=FOLDER takes pictures of all stories.
set -eu
cd "$(dirname "$0")/.."
command -v node >/dev/null || sh scripts/apt.sh nodejs
sh scripts/playground.sh
node --test playground/tests/unit.test.mjs
analects=$(sh scripts/built.sh analects)
node playground/tests/equal.mjs "$analects"

work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-playground.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$analects" run scenarios/page-during-call.toml --repeat 1 --report "$work/report.html" >/dev/null
for browser in ${BROWSERS:-chromium firefox}; do
    case $browser in firefox) program=firefox-esr ;; *) program=$browser ;; esac
    command -v "$program" >/dev/null || sh scripts/apt.sh "$program"
    REPORT="$work/report.html" node playground/tests/browser.mjs "$browser" ${SHOTS:+"$SHOTS"}
done
