import json
import signal
import threading
import time

import numpy as np
import pytest
from conftest import ROOT, scenario

import analects
from analects import Refused, _core


def test_the_figures_are_those_of_the_program(program, tmp_path, short):
    path = ROOT / "scenarios/page-during-call.toml"
    theirs = json.loads(program("run", path, "--repeat", 2, "-d", "cake", "-d", "mencius", "--format", "json"))
    ours = analects.run(path, disciplines=["cake", "mencius"], seeds=2)
    assert ours.dicts() == theirs["results"]
    text = program("run", path, "--repeat", 2, "-d", "cake", "--format", "csv")
    assert analects.run(path, disciplines="cake", seeds=2)._core.csv() == text


def test_a_row_for_each_run_and_a_column_for_each_metric(short):
    results = analects.run(short, seeds=3, set={"link.rate": "4mbit"})
    assert len(results) == 6
    assert list(results.runs["discipline"]) == ["pfifo"] * 3 + ["fq_codel"] * 3
    assert list(results.runs["seed"]) == [1, 2, 3] * 2
    units = analects.metrics()["unit"]
    assert units["stall"] == "s" and set(results.runs.columns) - {"discipline", "seed"} <= set(units.index)
    values = results.values("fct:page")
    assert len(values) == 6 * 3 and (values["value"] > 0).all()
    assert list(values["name"][:3]) == ["page-1", "page-2", "page-3"]
    theirs = results.figures[results.figures["figure"] == "fct_ms"]
    for name in ("page-1", "page-3"):
        of_it = [frame[frame["name"] == name]["value"].astype(float).to_numpy() for frame in (values, theirs)]
        np.testing.assert_allclose(*of_it)
    assert set(results.values("stall")["name"]) == {"call"} and set(results.values("all_done")["name"]) == {""}
    means = values.groupby(["discipline", "seed"], sort=False)["value"].mean()
    np.testing.assert_allclose(means.to_numpy(), results.runs["fct"].to_numpy())


def test_an_entry_is_not_the_one_whose_name_it_begins(short):
    beside = {"name": "page-x", "kind": "bulk", "start": "2s", "size": "60kB"}
    results = analects.run(short | {"traffic": [*short["traffic"], beside]}, disciplines="fq_codel", seeds=1)
    names = {entry: list(results.values(f"fct:{entry}")["name"]) for entry in ("page", "page-x")}
    assert names == {"page": ["page-1", "page-2", "page-3"], "page-x": ["page-x"]}


def test_every_combination_is_run(short):
    results = analects.run(short, vary={"link.rate": ["4mbit", "8mbit"], "link.rtt": ["10ms", "40ms"]}, seeds=1)
    assert len(results) == 8
    rows = results.runs.drop_duplicates(["link.rate", "link.rtt"])
    assert len(rows) == 4
    by_rtt = results.runs.groupby("link.rtt")["frame_p50"].mean()
    assert by_rtt["40ms"] > by_rtt["10ms"] + 10
    tuned = analects.run(short, disciplines="fq_codel", vary={"disciplines.fq_codel.target": ["1ms", "50ms"]}, seeds=1)
    assert tuned.runs["sojourn"].nunique() == 2


def test_two_disciplines_are_compared_pair_by_pair(short):
    results = analects.run(short, seeds=8)
    found = results.compare("fct", "fq_codel", "pfifo")
    each = results.runs.pivot(index="seed", columns="discipline", values="fct")
    assert found.value == pytest.approx((each["fq_codel"] - each["pfifo"]).mean())
    assert found.low <= found.value <= found.high and found.runs == 8 and found.unit == "ms"
    assert str(found).startswith("fct: fq_codel less pfifo: ")
    change = results.compare("fct", "fq_codel", "pfifo", percent=True)
    assert change.unit == "%" and (change.value < 0) == (found.value < 0)
    table = results.comparisons(["fct", "stall"], "pfifo")
    assert list(table["metric"]) == ["fct", "stall"]
    assert found.is_told == (table["p"][0] <= 0.05)
    few = analects.run(short, seeds=2).compare("fct", "fq_codel", "pfifo")
    assert few.low is None and not few.is_told


def test_what_is_told_alone_may_be_chance_among_many(short):
    results = analects.run(short, seeds=6)
    metrics = [name for name in analects.metrics().index if name in results.runs.columns]
    table = results.comparisons(metrics, "pfifo").sort_values("p")
    least_sure = table[table["p"] <= 0.05].iloc[-1]["metric"]
    undecided = list(table[table["p"] > 0.3]["metric"])
    assert results.comparisons([least_sure], "pfifo")["is_told"].all()
    assert not results.comparisons([least_sure, *undecided], "pfifo")["is_told"].any()
    assert _core.told_together([0.04]) == 0.04 and _core.told_together([0.04, 0.9]) == 0
    assert _core.told_together([0.001] * 19 + [0.04]) == 0.04


def test_control_runs_serve_and_are_no_rows(short):
    results = analects.run(short, seeds=2, without="page")
    assert len(results) == 4 and len(results.dicts()) == 8


def test_series_over_time(short):
    results = analects.run(short, seeds=1, series=True)
    frames = results.frames
    assert set(frames["discipline"]) == {"pfifo", "fq_codel"} and frames["delay_ms"].max() > 10
    assert results.shares["mbps"].max() <= 5.6
    assert results.arrow("sojourn").num_rows == len(results.sojourn)
    with pytest.raises(Refused, match="series=True"):
        _ = analects.run(short, seeds=1).frames


def test_senders_over_time(short):
    results = analects.run(short, seeds=1, set={"senders": "100ms"})
    senders = results.senders
    assert set(senders["discipline"]) == {"pfifo", "fq_codel"}
    assert {"slow_start", "startup", "avoidance"} & set(senders["phase"])
    assert senders["in_flight_bytes"].max() > 1448
    assert set(senders["control"]) > {"gcc"}
    assert results.arrow("senders").num_rows == len(senders)
    plain = analects.run(short, seeds=1)
    with pytest.raises(Refused, match="no run tells of its senders"):
        _ = plain.senders
    ours = results.dicts()
    assert all(run.pop("senders") for run in ours) and ours == plain.dicts()


def test_numbers_of_numpy_and_empty_lists(short):
    numpy = pytest.importorskip("numpy")
    assert len(analects.run(short, seeds=numpy.int64(2))) == 4
    with pytest.raises(Refused, match="expected a whole number"):
        analects.run(short, seeds=numpy.bool_(True))
    with pytest.raises(Refused, match="found no discipline"):
        analects.run(short, disciplines=[])


def test_frames_of_polars(short):
    pytest.importorskip("polars")
    results = analects.run(short, seeds=2)
    assert results.polars()["fct"].to_list() == list(results.runs["fct"])


def test_the_report_is_a_page(short, tmp_path):
    analects.run(short, seeds=2).report(tmp_path / "report.html", plots=tmp_path / "plots")
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "plots/plot.py").is_file() and list((tmp_path / "plots").glob("*.svg"))


def test_a_store_is_the_programs(program, short, tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(
        'name = "short"\nduration = "3s"\ndisciplines = ["pfifo"]\nlink = { rate = "5mbit", rtt = "20ms" }\n'
        'traffic = [{ name = "page", kind = "bulk", size = "60kB" }]\n'
    )
    analects.run(path, seeds=2, store=tmp_path / "store")
    said = program("jobs", path, "--store", tmp_path / "store", "--repeat", 3, "--list")
    states = [line.split("\t")[1] for line in said.splitlines()]
    assert states == ["done", "done", "missing"]


def test_the_interpreter_is_free_while_runs_go_on(short):
    ticks = []
    ended = threading.Event()

    def count():
        while not ended.wait(0.002):
            ticks.append(time.monotonic())

    counter = threading.Thread(target=count)
    counter.start()
    analects.run(short, seeds=40, threads=1)
    ended.set()
    counter.join()
    assert len(ticks) > 20


def test_progress_and_its_errors(short):
    told = []
    analects.run(short, seeds=3, progress=lambda done, jobs: told.append((done, jobs)))
    assert told[-1] == (6, 6) and told == sorted(told)

    def broken(done, jobs):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        analects.run(short, seeds=3, progress=broken)


def test_ctrl_c_ends_it():
    # A shell starts what runs in the background with the signal ignored, and Python leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            analects.run(scenario(duration="60s"), seeds=5000)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("words", "place", "message"),
    [
        ({"scenario": "no/such.toml"}, "no/such.toml", "no such file"),
        ({"scenario": 3}, "scenario", "found int"),
        ({"scenario": scenario(link={"rate": float("nan"), "rtt": "20ms"})}, "link.rate", "nan is no value"),
        ({"scenario": scenario(traffic=[{"name": None}])}, "traffic[0].name", "found NoneType"),
        (
            {"scenario": scenario(link={"rate": "20mbps", "rtt": "20ms"})},
            'scenario: rate = "20mbps"',
            "20mbps",
        ),
        ({"scenario": scenario(lonk={})}, "scenario: [lonk]", "lonk"),
        ({"scenario": {3: 4}}, None, "the key 3"),
        ({"disciplines": "fq_kodel"}, "--discipline", "fq_kodel"),
        ({"disciplines": 7}, "disciplines", "found 7"),
        ({"set": {"link.rate": [1]}}, "set: link.rate", "found list"),
        ({"set": {"lonk.rate": "1mbit"}}, "--set lonk.rate", "lonk"),
        ({"set": ["link.rate"]}, "set", "expected a dict"),
        ({"vary": {"link.rate": "5mbit"}}, "vary: link.rate", "expected a list"),
        ({"vary": {"link.rate": []}}, "vary: link.rate", "no values"),
        ({"seeds": 0}, "seeds", "found 0"),
        ({"seeds": 2.5}, "seeds", "found 2.5"),
        ({"seed": -1}, "seed", "found -1"),
        ({"seeds": 100_000, "vary": {"link.rtt": [f"{n}ms" for n in range(1, 100)]}}, None, "more than"),
        ({"without": "pages"}, None, "pages"),
        ({"threads": -1}, "threads", "found -1"),
        ({"set": {"link.trace": "no/such/trace"}}, "--set link.trace", "no/such/trace"),
    ],
)
def test_what_is_wrong_is_named(words, place, message):
    with pytest.raises(Refused, match=message) as caught:
        analects.run(**({"scenario": scenario()} | words))
    assert caught.value.place == place
    assert message in str(caught.value)


def test_names_of_results_that_do_not_exist(short):
    results = analects.run(short, seeds=1)
    for wrong in (
        lambda: results.values("stahl"),
        lambda: results.compare("stall", "pfifo", "cake"),
        lambda: results.arrow("frame"),
        lambda: analects.describe("menzius"),
    ):
        with pytest.raises(Refused, match="there is no"):
            wrong()
