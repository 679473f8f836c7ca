"""The command `analects-campaign`."""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analects import store as stores
from analects.campaign.cost import CORES, estimate
from analects.campaign.plan import Plan, plan
from analects.campaign.work import local, work
from analects.errors import Refused

if TYPE_CHECKING:
    from distributed import Client


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="analects-campaign", description="Runs of a plan, on many processors.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, says, function in (
        ("run", "make what the store lacks", run),
        ("list", "print the keys of jobs, for GNU parallel and job arrays", listed),
        ("cost", "measure some jobs of each experiment, and say what the rest costs", cost),
    ):
        command = commands.add_parser(name, help=says, description=says)
        command.set_defaults(function=function)
        command.add_argument("plan", help="a scenario's or experiment's file, or a name such as matrix/edges, floq/all")
        command.add_argument("--store", required=True, metavar="DIR", help="where results are kept")
        command.add_argument("--quick", action="store_true", help="experiments in their quick form")
        command.add_argument(
            "--set", action="append", default=[], metavar="PATH=VALUE", help="set a key of the scenario"
        )
        command.add_argument(
            "--vary",
            action="append",
            default=[],
            metavar="PATH=V,V...",
            help="run it with each of these values",
        )
        command.add_argument("-d", "--discipline", action="append", help="compare this one instead of the scenario's")
        command.add_argument("--seeds", type=int, help="runs of each, of a scenario (default: 10)")
        command.add_argument("--without", metavar="NAME", help="each run once more without this traffic")
        command.add_argument(
            "--engine", default="sim", help="kernel or live: the program makes the jobs (default: sim)"
        )
        command.add_argument("--program", default="analects", metavar="PATH", help="the program, for other engines")
        if name == "run":
            _where(command)
        elif name == "list":
            command.add_argument("--missing", action="store_true", help="only those without a result")
        else:
            command.add_argument("--each", type=int, default=4, help="jobs of each experiment to measure (default: 4)")
    command = commands.add_parser("parquet", help="write the store's results as tables of Parquet")
    command.set_defaults(function=parquet)
    command.add_argument("--store", required=True, metavar="DIR")
    command.add_argument("--out", metavar="DIR", help="where to (default: the store's folder parquet)")
    command = commands.add_parser("query", help="ask the tables jobs, values and figures in SQL, with DuckDB")
    command.set_defaults(function=query)
    command.add_argument("--store", required=True, metavar="DIR")
    command.add_argument("sql", help="select discipline, avg(value) from values join jobs using (key) where ...")
    return parser


def _where(command: argparse.ArgumentParser) -> None:
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--local", type=int, metavar="N", help="so many processes of this machine (default: one a processor)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, such as tcp://head:8786")
    for system in ("slurm", "pbs", "lsf"):
        where.add_argument(f"--{system}", type=int, metavar="N", help=f"so many jobs of one core in {system.upper()}")
    command.add_argument("--queue", help="the batch system's queue or partition")
    command.add_argument("--interface", help="the network interface by which workers and scheduler speak")
    command.add_argument("--hours", type=float, default=4.0, help="the batch system's limit for a worker (default: 4)")
    command.add_argument("--memory", default="2GiB", help="of a worker in the batch system (default: 2GiB)")
    command.add_argument(
        "--patience", type=float, default=300.0, help="seconds that a scheduler may be gone (default: 300)"
    )


def planned(words: argparse.Namespace) -> Plan:
    """The plan that the command line names."""
    pairs: dict[str, dict[str, Any]] = {"set": {}, "vary": {}}
    for option, into in pairs.items():
        for text in getattr(words, option):
            path, equals, value = text.partition("=")
            if not equals:
                raise Refused("there is no value", f"write --{option} link.rate=20mbit", f"--{option} {text}")
            into[path] = value.split(",") if option == "vary" else value
    return plan(
        words.plan,
        words.store,
        quick=words.quick,
        disciplines=words.discipline,
        set=pairs["set"] or None,
        vary=pairs["vary"] or None,
        seeds=words.seeds,
        without=words.without,
        engine=words.engine,
        program=words.program,
    )


def connection(words: argparse.Namespace) -> Callable[[], Client]:
    """What makes a client of the scheduler that the command line names; a cluster of its own lives as long as it."""
    from distributed import Client

    if words.scheduler:
        return lambda: Client(words.scheduler, timeout=10)
    for system in ("slurm", "pbs", "lsf"):
        if count := getattr(words, system):
            cluster = _batch(system, words)
            cluster.scale(jobs=count)
            return lambda: Client(cluster)
    cluster = local(words.local)
    print(f"dashboard: {cluster.dashboard_link}", file=sys.stderr)
    return lambda: Client(cluster)


def _batch(system: str, words: argparse.Namespace) -> Any:
    import dask_jobqueue

    kinds = {
        "slurm": dask_jobqueue.SLURMCluster,
        "pbs": dask_jobqueue.PBSCluster,
        "lsf": dask_jobqueue.LSFCluster,
    }
    seconds = int(words.hours * 3600)
    walltime = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return kinds[system](
        cores=1,
        processes=1,
        memory=words.memory,
        queue=words.queue,
        walltime=walltime,
        interface=words.interface,
        log_directory=str(pathlib.Path(words.store) / "log"),
    )


class Line:
    """Progress: a line that changes on a terminal, one every ten seconds elsewhere."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.first: int | None = None
        self.last = 0.0

    def __call__(self, done: int, jobs: int) -> None:
        """So many are done."""
        now = time.monotonic()
        self.first = done if self.first is None else self.first
        if done < jobs and now - self.last < (0.2 if sys.stderr.isatty() else 10):
            return
        self.last = now
        rate = (done - self.first) / max(now - self.began, 1e-9)
        left = f", {(jobs - done) / rate / 60:.0f} min left" if rate > 0 and done < jobs else ""
        ends = "\r" if sys.stderr.isatty() and done < jobs else "\n"
        print(f"{done} of {jobs} jobs, {rate:.1f} a second{left}    ", end=ends, file=sys.stderr, flush=True)


def run(words: argparse.Namespace) -> None:
    """`run`."""
    todo = planned(words)
    lacking = len(todo.missing())
    print(f"{todo.name}: {len(todo.jobs)} jobs, {lacking} to make", file=sys.stderr)
    if lacking:
        done = work(todo, connection(words), patience=words.patience, progress=Line())
        print(
            f"{done.made} made in {done.seconds:.1f} s, with {done.processor:.1f} s of a processor; {done.found} found",
            file=sys.stderr,
        )


def listed(words: argparse.Namespace) -> None:
    """`list`."""
    todo = planned(words)
    for key in todo.missing() if words.missing else [job.key for job in todo.jobs]:
        print(key)


def cost(words: argparse.Namespace) -> None:
    """`cost`."""
    if words.each < 1:
        raise Refused(f"found {words.each}, expected 1 or more", None, "--each")
    todo = planned(words)
    found = estimate(todo, each=words.each)
    interval = "" if found.low is None else f" (95 % interval {found.low:.3g} to {found.high:.3g})"
    print(
        f"{found.missing} jobs are missing; {found.measured} of them were made to measure, "
        f"the longest in {found.longest:.1f} s."
    )
    print(f"All of them: {found.hours:.3g} hours of one core like this one{interval}.")
    for cores in CORES:
        print(f"  {cores:4} cores: {found.wall(cores):.3g} hours")


def parquet(words: argparse.Namespace) -> None:
    """`parquet`."""
    for path in stores.write_parquet(words.store, words.out).values():
        print(path)


def query(words: argparse.Namespace) -> None:
    """`query`. The tables are written again if results have come since."""
    import duckdb

    into = pathlib.Path(words.store) / "parquet"
    if not stores.is_up_to_date(words.store):
        stores.write_parquet(words.store)
    database = duckdb.connect()
    for name in stores.TABLES:
        # Values is a word of SQL's: quoted, it is a name.
        database.execute(
            f"create view \"{name}\" as from read_parquet('{str(into / name).replace(chr(39), chr(39) * 2)}.parquet')"
        )
    try:
        print(database.sql(words.sql).df().to_csv(index=False), end="")
    except duckdb.Error as error:
        raise Refused(str(error), "the views are jobs, values and figures", "query") from error


def main() -> None:
    """The program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    warnings.formatwarning = lambda message, *_: f"analects-campaign: {message}\n"
    words = arguments().parse_args()
    try:
        words.function(words)
    except Refused as refused:
        sys.exit(f"analects-campaign: error: {refused}")
    except ImportError as error:
        sys.exit(f"analects-campaign: error: {error}; pip install 'analects[campaign]'")
    except (OSError, TimeoutError) as error:
        sys.exit(f"analects-campaign: error: {error}")
    except KeyboardInterrupt:
        sys.exit("analects-campaign: stopped; the same command goes on with it")


if __name__ == "__main__":
    main()
