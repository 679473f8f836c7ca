import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import scenario

import analects
from analects import Refused

pytest.importorskip("distributed")

from distributed import Client

from analects import campaign


def results(store):
    return {path.name: path.read_bytes() for path in pathlib.Path(store).glob("results/??/*.json")}


@pytest.fixture(scope="module")
def cluster():
    with campaign.local(2) as cluster:
        yield cluster


def test_many_workers_make_what_one_process_makes(cluster, short, tmp_path):
    plan = campaign.plan(short, tmp_path / "many", seeds=60, without="page")
    assert len(plan.jobs) == 240 and not any(job.is_done for job in plan.jobs)
    told = []
    done = campaign.work(plan, lambda: Client(cluster), progress=lambda *counts: told.append(counts))
    assert (done.jobs, done.made, done.found) == (240, 240, 0)
    assert told[-1] == (240, 240)
    one = campaign.plan(short, tmp_path / "one", seeds=60, without="page")
    assert [job.key for job in one.jobs] == [job.key for job in plan.jobs]
    campaign.work_here(one)
    assert results(tmp_path / "many") == results(tmp_path / "one")
    again = campaign.plan(short, tmp_path / "many", seeds=61, without="page")
    assert len(again.missing()) == 4
    assert campaign.work(again, lambda: Client(cluster)).made == 4


def test_a_store_that_was_filled_is_found_by_a_run(cluster, short, tmp_path):
    campaign.work(campaign.plan(short, tmp_path, seeds=4), lambda: Client(cluster))
    before = results(tmp_path)
    found = analects.run(short, seeds=4, store=tmp_path)
    assert results(tmp_path) == before
    assert found.dicts() == analects.run(short, seeds=4).dicts()


def test_a_killed_worker_costs_nothing_but_time(short, tmp_path):
    plan = campaign.plan(scenario(duration="20s"), tmp_path, seeds=100)
    with campaign.local(2) as cluster:

        def kill():
            while len(results(tmp_path)) < 20:
                time.sleep(0.01)
            with Client(cluster) as client:
                victim = next(iter(client.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        done = campaign.work(plan, lambda: Client(cluster))
        killer.join()
    assert done.made == 200 and not plan.missing()
    assert len(results(tmp_path)) == 200
    # What a killed process had claimed is free again.
    assert not list((tmp_path / "claims").iterdir())


def test_a_job_that_ends_its_workers_is_named(short, tmp_path, monkeypatch):
    plan = campaign.plan(short, tmp_path, seeds=1)
    killing = tmp_path / "program"
    killing.write_text("#!/bin/sh\nkill -9 $PPID\n")
    killing.chmod(0o755)
    with campaign.local(1) as cluster, pytest.raises(Refused, match="every worker that made it died"):
        campaign.work(dataclasses.replace(plan, program=str(killing)), lambda: Client(cluster))


def test_a_scheduler_that_comes_back(tmp_path):
    plan = campaign.plan(scenario(duration="20s"), tmp_path, seeds=100)
    port = 18786

    def start(*words):
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_scheduler" if words[0] == "scheduler" else "distributed.cli.dask_worker",
                *words[1:],
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def scheduler():
        return start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")

    def worker():
        return start("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard")

    processes = [scheduler(), worker()]

    def restart():
        while len(results(tmp_path)) < 20:
            time.sleep(0.01)
        processes[0].kill()
        processes[0].wait()
        processes.append(scheduler())
        # As a batch system does.
        processes.append(worker())

    restarter = threading.Thread(target=restart)
    restarter.start()
    try:
        done = campaign.work(plan, lambda: Client(f"tcp://127.0.0.1:{port}", timeout=5), patience=120)
        restarter.join()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert done.made == 200 and len(results(tmp_path)) == 200


def test_a_scheduler_that_does_not_come(short, tmp_path):
    plan = campaign.plan(short, tmp_path, seeds=1)
    with pytest.raises(TimeoutError, match="did not come back within 1 s"):
        campaign.work(plan, lambda: Client("tcp://127.0.0.1:9", timeout=1), patience=1)


def test_a_job_that_changed_is_refused(cluster, tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("0 10mbit\n1s 5mbit\n")
    path = scenario(link={"trace": str(trace), "rtt": "20ms"})
    try:
        plan = campaign.plan(path, tmp_path / "store", seeds=2)
    except Refused:
        trace.write_text("\n".join(str(n) for n in range(1, 2000)))
        plan = campaign.plan(path, tmp_path / "store", seeds=2)
    trace.write_text(trace.read_text() + "\n2001\n")
    with pytest.raises(Refused, match="has changed since it was listed"):
        campaign.work(plan, lambda: Client(cluster))


def test_plans_of_experiments(tmp_path):
    plan = campaign.plan("floq/mechanism", tmp_path, quick=True)
    assert plan.jobs and set(plan.part_of.values()) == {"floq/mechanism"}
    with pytest.raises(Refused, match="it needs the engine kernel"):
        campaign.plan("confucius/fig16", tmp_path)
    with pytest.raises(Refused, match="defines its own"):
        campaign.plan("floq/mechanism", tmp_path, seeds=3)
    with pytest.raises(Refused, match="there is no experiment 'flock/all'"):
        campaign.plan("flock/all", tmp_path)
    with pytest.raises(Refused, match="has no quick form"):
        campaign.plan(scenario(), tmp_path, quick=True)


def test_what_a_plan_costs(short, tmp_path):
    plan = campaign.plan(short, tmp_path, seeds=10)
    cost = campaign.estimate(plan, each=5)
    assert (cost.missing, cost.measured) == (20, 5) and len(plan.missing()) == 15
    assert 0 < cost.low <= cost.hours <= cost.high
    assert cost.wall(16) < cost.wall(1) == pytest.approx(cost.hours)
    campaign.work_here(plan)
    with pytest.raises(Refused, match="nothing is missing"):
        campaign.estimate(plan)


def test_the_program_makes_what_another_engine_needs(cluster, program, tmp_path, monkeypatch):
    """The program lists and makes jobs; here those of the simulator, since a kernel is not everywhere."""
    path = tmp_path / "short.toml"
    path.write_text(
        'name = "short"\nduration = "3s"\ndisciplines = ["pfifo"]\nlink = { rate = "5mbit", rtt = "20ms" }\n'
        'traffic = [{ name = "page", kind = "bulk", size = "60kB" }]\n'
    )
    from analects.campaign.plan import _by_program

    plan = _by_program(str(path), str(tmp_path / "store"), "sim", os.environ["ANALECTS"], False)
    assert campaign.work(plan, lambda: Client(cluster)).made == 10
    assert not plan.missing()
    (tmp_path / "store/jobs" / plan.jobs[0].key[:2] / f"{plan.jobs[0].key}.json").unlink()
    (tmp_path / "store/results" / plan.jobs[0].key[:2] / f"{plan.jobs[0].key}.json").unlink()
    with pytest.raises(Refused, match="was listed"):
        campaign.work(plan, lambda: Client(cluster))


def command(*words, **options):
    words = [sys.executable, "-m", "analects.campaign", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, **options)


def test_the_command(short, program, tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(
        'name = "short"\nduration = "3s"\ndisciplines = ["pfifo", "cake"]\nlink = { rate = "5mbit", rtt = "20ms" }\n'
        'traffic = [{ name = "page", kind = "bulk", size = "60kB" }]\n'
    )
    store = tmp_path / "store"
    ran = command("run", path, "--store", store, "--seeds", 5, "--vary", "link.rtt=10ms,50ms", "--local", 2)
    assert ran.returncode == 0, ran.stderr
    assert "20 made in" in ran.stderr
    assert "0 to make" in command("run", path, "--store", store, "--seeds", 5, "--vary", "link.rtt=10ms,50ms").stderr
    keys = command("list", path, "--store", store, "--missing", "--seeds", 2).stdout.split()
    assert len(keys) == 4
    # The program makes what was listed here.
    program("job", keys[0], "--store", store)
    assert command("list", path, "--store", store, "--missing", "--seeds", 2).stdout.split() == keys[1:]
    tables = command("parquet", "--store", store)
    assert tables.stdout.split() == [
        str(store / "parquet" / f"{name}.parquet") for name in ("jobs", "values", "figures")
    ]
    asked = command(
        "query",
        "--store",
        store,
        'select discipline, count(*) as n from "values" join jobs using (key) '
        "where metric = 'fct' group by all order by all",
    )
    assert asked.stdout == "discipline,n\ncake,10\npfifo,11\n", asked.stderr
    program("job", keys[1], "--store", store)
    more = command("query", "--store", store, "select count(*) as n from jobs")
    assert more.stdout == "n\n22\n"
    for words, says in (
        (("query", "--store", store, "select"), "query: Parser Error"),
        (("run", "no/such.toml", "--store", store), "no/such.toml: no such file"),
        (("run", path, "--store", store, "--set", "x"), "there is no value"),
        (("parquet", "--store", tmp_path / "none"), "there is no such store"),
        (("run", path, "--store", store, "--engine", "kernel", "--program", "no-such"), "there is no such program"),
        (("run", path, "--store", store, "--engine", "kernel", "--set", "a=b"), "write it into the plan"),
    ):
        failed = command(*words)
        assert failed.returncode == 1 and says in failed.stderr and "Traceback" not in failed.stderr
