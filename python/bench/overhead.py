"""What a campaign costs beside its jobs: `python bench/overhead.py [JOBS] [SECONDS]`, in the test's environment.

Makes JOBS jobs (20,000) of about SECONDS (0.1) of processor time each with two local workers, and prints the
processor time of everything (workers, scheduler, client) beside that of the jobs alone, measured in one process.
"""

import pathlib
import resource
import sys
import tempfile

from distributed import Client

import analects
from analects import campaign
from analects.campaign.__main__ import Line

SCENARIO = {
    "name": "overhead",
    "disciplines": ["fq_codel"],
    "warmup": "0s",
    "link": {"rate": "50mbit", "rtt": "20ms"},
    "traffic": [{"name": "bulk", "kind": "bulk"}],
}


def used(who: int) -> float:
    """Processor seconds so far."""
    of = resource.getrusage(who)
    return of.ru_utime + of.ru_stime


def alone(duration: float, jobs: int) -> float:
    """Processor seconds of a job, made in this process without a store."""
    before = used(resource.RUSAGE_SELF)
    analects.run(SCENARIO | {"duration": f"{duration:.3f}s"}, seeds=jobs, threads=1)
    return (used(resource.RUSAGE_SELF) - before) / jobs


def main() -> None:
    """The measurement."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    wanted = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    with tempfile.TemporaryDirectory(prefix="analects-overhead.") as folder:
        measure(pathlib.Path(folder), jobs, wanted)


def measure(folder: pathlib.Path, jobs: int, wanted: float) -> None:
    """Prints what it costs."""
    duration = 10.0
    duration *= wanted / alone(duration, 20)
    before = alone(duration, 200)
    plan = campaign.plan(SCENARIO | {"duration": f"{duration:.3f}s"}, folder, seeds=jobs)
    start = used(resource.RUSAGE_SELF)
    with campaign.local(2) as cluster:
        done = campaign.work(plan, lambda: Client(cluster), progress=Line())
    whole = used(resource.RUSAGE_SELF) - start + used(resource.RUSAGE_CHILDREN)
    after = alone(duration, 200)
    own = jobs * (before + after) / 2
    print(f"{done.jobs} jobs of {own / jobs:.4f} s of a processor each: {own:.0f} s")
    print(f"the campaign: {whole:.0f} s of a processor, {100 * (whole / own - 1):.1f} % more, in {done.seconds:.0f} s")


if __name__ == "__main__":
    main()
