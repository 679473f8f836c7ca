#!/bin/sh
# The site: documents with a search, the playground, the demo's report, into target/site.
#   site.sh [--without-playground]
# Every link within it is checked. Without a network the generator has to be there already: mkdocs, of the version below.
set -eu
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
pages=$target/site-pages
rm -rf "$pages" "$target/site"
mkdir -p "$pages"

echo "site: the generator"
sh scripts/apt.sh python3 python3-venv
[ -x "$target/site-venv/bin/mkdocs" ] || python3 -m venv "$target/site-venv"
"$target/site-venv/bin/pip" install --quiet --requirement site/requirements.txt

echo "site: the documents, and what they link to"
python3 site/gather.py "$pages"

echo "site: the demo's report"
analects=$(sh scripts/built.sh analects --no-default-features)
"$analects" run scenarios/evening.toml --columns stall:call,plt --report "$pages/evening.html" > /dev/null

if [ "${1:-}" = --without-playground ]; then
    echo "site: WITHOUT the playground, as asked"
    mkdir -p "$pages/try"
    cp site/without-playground.html "$pages/try/index.html"
else
    sh scripts/playground.sh
    cp -r "$target/playground/site" "$pages/try"
fi

echo "site: the pages"
"$target/site-venv/bin/mkdocs" build --quiet --strict --config-file site/mkdocs.yml --site-dir "$target/site"
python3 site/links.py "$target/site"
du -sh "$target/site"
echo "site: $target/site/index.html"
