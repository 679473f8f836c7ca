"""What a campaign costs beside its jobs: `python bench/overhead.py [JOBS] [SECONDS]`, in the test's environment.

Makes JOBS jobs (20,000) of about SECONDS (0.1) of a processor each with two local workers, and prints the processor
time of everything (workers, scheduler, client) beside what the workers spent on jobs; and what a job costs there beside
a run without store and key, in turns in one process.
"""

import pathlib
import resource
import sys
import tempfile

from distributed import Client

import analects
from analects import campaign
from analects.campaign.__main__ import Line
from analects.campaign.work import used

SCENARIO = {
    "name": "overhead",
    "disciplines": ["fq_codel"],
    "warmup": "0s",
    "link": {"rate": "50mbit", "rtt": "20ms"},
    "traffic": [{"name": "bulk", "kind": "bulk"}],
}
#: Jobs of a turn.
TURN = 50


def scenario(duration: float) -> dict[str, object]:
    """A run that lasts so many seconds of its own time."""
    return SCENARIO | {"duration": f"{duration:.3f}s"}


def alone(duration: float) -> float:
    """Processor seconds of a run."""
    before = used()
    analects.run(scenario(duration), seeds=TURN, threads=1)
    return (used() - before) / TURN


def kept(duration: float, folder: pathlib.Path) -> float:
    """Processor seconds of the same run as a job: read from the store, made, and kept there."""
    before = used()
    campaign.work_here(campaign.plan(scenario(duration), folder, seeds=TURN), threads=1)
    return (used() - before) / TURN


def main() -> None:
    """The measurement."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    wanted = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    with tempfile.TemporaryDirectory(prefix="analects-overhead.") as folder:
        measure(pathlib.Path(folder), jobs, wanted)


def measure(folder: pathlib.Path, jobs: int, wanted: float) -> None:
    """Prints what it costs."""
    duration = 10.0
    duration *= wanted / alone(duration)
    turns = [(alone(duration), kept(duration, folder / str(turn))) for turn in range(6)]
    one, other = (sum(turn[side] for turn in turns) / len(turns) for side in (0, 1))
    print(
        f"a run: {one:.4f} s of a processor; as a job of a store: {other:.4f} s, {100 * (other / one - 1):.1f} % more"
    )
    before = used()
    plan = campaign.plan(scenario(duration), folder / "store", seeds=jobs)
    with campaign.local(2) as cluster:
        done = campaign.work(plan, lambda: Client(cluster), progress=Line())
    # Workers have ended: they count as children.
    whole = used() - before
    print(f"{done.jobs} jobs: {done.processor:.0f} s of a processor at the workers, {done.processor / jobs:.4f} s each")
    print(
        f"all of the campaign: {whole:.0f} s, {100 * (whole / done.processor - 1):.1f} % more, in {done.seconds:.0f} s"
    )
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"of that the client and the scheduler: {whole - children.ru_utime - children.ru_stime:.0f} s")


if __name__ == "__main__":
    main()
