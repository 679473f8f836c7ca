#!/bin/sh
# Tests the wheel in a fresh virtual environment: style, types, tests, the notebooks of docs/notebooks, and campaigns
# between network namespaces and, as root, in a Slurm of one node.
#
#   [ANALECTS=PROGRAM] test-python.sh [--short]
# --short: without Dask, plots, notebooks and campaigns.
set -eu
cd "$(dirname "$0")/.."
wheel=$(sh python/build.sh | tail -n 1)
environment=target/python/test
rm -rf $environment
target/python/tools/bin/python -m venv $environment
case ${1:-} in
--short)
    $environment/bin/pip install --quiet --no-compile "$wheel" 'pytest>=8'
    set -- tests/test_run.py tests/test_own.py tests/test_store.py
    ;;
*)
    $environment/bin/pip install --quiet --no-compile "$wheel[plot,polars,campaign,query]" 'pytest>=8' 'ruff>=0.14' 'mypy>=1.18' \
        'pandas-stubs>=2' 'nbclient>=0.10' 'ipykernel>=6' 'flent>=2.1'
    cargo clippy -p analects-python --locked -- -D warnings
    $environment/bin/ruff check python
    $environment/bin/ruff format --check python
    (cd python && ../$environment/bin/mypy --python-executable ../$environment/bin/python)
    set -- tests
    ;;
esac
# From tests/: Python must find the wheel, not the sources beside it.
[ -n "${ANALECTS:-}" ] || ANALECTS=$(realpath "$(sh scripts/built.sh analects)")
export ANALECTS
# shellcheck disable=SC2046 # words
(cd python/tests && ../../$environment/bin/python -m pytest -c ../pyproject.toml --rootdir .. $(printf '../%s ' "$@"))
[ "$*" = tests ] || exit 0
sh python/namespaces.sh $environment/bin/python "$ANALECTS"
if [ "$(id -u)" = 0 ]; then
    sh python/slurm.sh $environment/bin/python "$ANALECTS"
else
    echo "test-python: Slurm was SKIPPED: its daemons need root" >&2
fi
