import csv
import shutil
import subprocess
import sys

import pytest

FLENT = shutil.which("flent", path=f"{sys.prefix}/bin")


def flent(*words):
    return subprocess.run([FLENT, *map(str, words)], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(FLENT is None, reason="flent is not installed")
def test_flent_reads_and_plots_a_run(program, tmp_path):
    told = tmp_path / "run.flent.gz"
    program("run", "scenarios/rrul.toml", "-d", "cake", "--set", "duration=20s", "--flent", told)
    table = tmp_path / "run.csv"
    flent("-i", told, "-f", "csv", "-o", table)
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == 100
    later = rows[50:]
    mean = {name: sum(float(row[name] or 0) for row in later) / len(later) for name in rows[0]}
    # Of 20 and 5 Mbit/s; headers and acknowledgements take a part.
    assert 17 < mean["TCP download sum"] < 20 and 3.5 < mean["TCP upload sum"] < 5
    assert 40 < mean["Ping (ms) UDP BE"] < 60
    assert mean["TCP totals"] == pytest.approx(mean["TCP download sum"] + mean["TCP upload sum"])
    for plot in ("all_scaled", "totals", "ping_cdf", "box_totals"):
        picture = tmp_path / f"{plot}.png"
        flent("-i", told, "-p", plot, "-o", picture)
        assert picture.stat().st_size > 5000
