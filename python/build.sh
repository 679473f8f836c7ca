#!/bin/sh
# Builds the wheel into target/wheels, with tools in a virtual environment of its own: target/python/tools.
# Prints the wheel's path last. ANALECTS_PROFILE=dev shares what the demo and the tests have built; what release builds
# in some minutes runs twice as fast.
set -eu
cd "$(dirname "$0")/.."
tools=target/python/tools
mkdir -p target/python
exec 9>target/python/.lock
flock 9
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "build: Python 3.11 or newer is needed; name it with PYTHON=..." >&2
    exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || sh scripts/apt.sh python3-venv
[ -x $tools/bin/maturin ] || {
    "$python" -m venv $tools
    $tools/bin/pip install --quiet --no-compile 'maturin>=1.9,<2'
}
wheels=target/wheels
rm -f $wheels/analects-*.whl
profile=${ANALECTS_PROFILE:-release}
[ "$profile" != release ] || profile=wheel
$tools/bin/maturin build --locked --manifest-path python/Cargo.toml --profile "$profile" --out $wheels >&2
ls $wheels/analects-*.whl
