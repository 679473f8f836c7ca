"""Works through a plan with Dask: batches of jobs, as many at a time as there are workers.

A batch is sized so that it takes some seconds: the scheduler has little to do however short the jobs are. A worker
that dies takes its batch with it; Dask gives the batch to another one, which finds in the store what was done. A
scheduler that is gone is waited for, and what the store lacks is handed out again.
"""

from __future__ import annotations

import collections
import dataclasses
import resource
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analects import _core
from analects.campaign.plan import Plan
from analects.errors import Refused

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

#: A batch should take so long, seconds.
BATCH = 3.0
#: No batch has more jobs: what a lost worker had begun is not much.
MOST = 2000
#: Batches that wait beside each worker's own.
AHEAD = 1
#: Seconds until a scheduler that is gone is asked again.
PAUSE = 1.0


@dataclasses.dataclass(frozen=True)
class Done:
    """What became of a plan.

    Attributes:
        jobs: All of it.
        made: Results that were missing, and are there now.
        found: Results that were there before.
        seconds: How long it took.
        processor: Seconds of a processor that the jobs took at the workers.
    """

    jobs: int
    made: int
    found: int
    seconds: float
    processor: float


def used() -> float:
    """Processor seconds so far, of this process and of programs that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(of.ru_utime + of.ru_stime for of in both)


def make(store: str, keys: list[str], program: str | None) -> tuple[float, float]:
    """On a worker: makes the jobs with these keys; the seconds it took, and those of a processor.

    Raises:
        Refused: If a job cannot be run.
    """
    began, before = time.monotonic(), used()
    if program is None:
        _core.make(store, keys, 1)
    else:
        for key in keys:
            _make_by_program(store, key, program)
    return time.monotonic() - began, used() - before


def _make_by_program(store: str, key: str, program: str) -> None:
    ran = subprocess.run([program, "job", key, "--store", store], capture_output=True, text=True)
    if ran.returncode != 0:
        raise Refused(ran.stderr.strip() or f"it ended with {ran.returncode}", None, f"{program} job {key}")


def work(
    plan: Plan,
    connect: Callable[[], Client],
    *,
    patience: float = 300.0,
    progress: Callable[[int, int], object] | None = None,
) -> Done:
    """Makes all jobs of `plan` whose results its store lacks.

    Args:
        plan: The plan. Its store has to be a folder that all workers see under the same path.
        connect: Makes a client of the scheduler; called again if the connection is lost.
        patience: So many seconds a scheduler may be gone.
        progress: Called with the number of results that are there, and of all.

    Raises:
        Refused: If a job cannot be run, or ends its workers; the others of its batch may not have been made.
        TimeoutError: If the scheduler did not come back.
    """
    began = time.monotonic()
    all_jobs = len(plan.jobs)
    first = missing = plan.missing()
    heard = began
    processor = 0.0
    while missing:
        tell = _Teller(progress, all_jobs - len(missing), all_jobs)
        campaign = _Campaign(plan, missing, tell)
        try:
            with connect() as client:
                campaign.run(client)
        except (OSError, _LostError) as error:
            if tell.more:
                heard = time.monotonic()
            if time.monotonic() - heard > patience:
                raise TimeoutError(f"the scheduler did not come back within {patience:.0f} s: {error}") from error
            time.sleep(PAUSE)
        processor += campaign.processor
        missing = plan.missing()
    _Teller(progress, all_jobs, all_jobs)(0)
    return Done(all_jobs, len(first), all_jobs - len(first), time.monotonic() - began, processor)


def local(processes: int | None = None) -> LocalCluster:
    """A cluster of so many processes of this machine, or one a processor; to be used in a `with`."""
    import dask
    from distributed import LocalCluster

    # It looks at every worker's stack a hundred times a second, for a page that has nothing to tell of one call.
    dask.config.set({"distributed.worker.profile.enabled": False})
    return LocalCluster(n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=":0")


def work_here(plan: Plan, *, threads: int = 0) -> None:
    """Makes what the plan lacks in this process, without Dask.

    Raises:
        Refused: If a job cannot be run.
    """
    if plan.program is None:
        _core.make(plan.store, plan.missing(), threads)
    else:
        make(plan.store, plan.missing(), plan.program)


class _Teller:
    """Tells how much is done."""

    def __init__(self, progress: Callable[[int, int], object] | None, before: int, all_jobs: int) -> None:
        self.progress, self.before, self.all_jobs = progress, before, all_jobs
        #: Jobs done since.
        self.more = 0

    def __call__(self, more: int) -> None:
        self.more = more
        if self.progress is not None:
            self.progress(self.before + more, self.all_jobs)


class _LostError(Exception):
    """The scheduler is gone."""


class _Campaign:
    """Batches at the workers of a client."""

    client: Client

    def __init__(self, plan: Plan, missing: list[str], tell: _Teller) -> None:
        self.plan = plan
        self.waiting = collections.deque(missing)
        self.tell = tell
        self.done = 0
        self.processor = 0.0
        #: Mean seconds of a job; unknown before the first batch.
        self.mean: float | None = None

    def run(self, client: Client) -> None:
        from distributed import as_completed

        self.client = client
        self.client.wait_for_workers(1)
        running = as_completed([self._submit() for _ in range(self._room()) if self.waiting])
        for future in running:
            self._finished(future)
            while self.waiting and running.count() < self._room():
                running.add(self._submit())

    def _room(self) -> int:
        threads: int = sum(self.client.nthreads().values())
        return max(1, threads * (1 + AHEAD))

    def _submit(self) -> Future:
        size = 1 if self.mean is None else int(BATCH / max(self.mean, BATCH / MOST))
        # At the end all workers have something left.
        size = max(1, min(size, MOST, -(-len(self.waiting) // self._room())))
        keys = [self.waiting.popleft() for _ in range(min(size, len(self.waiting)))]
        future = self.client.submit(
            make, self.plan.store, keys, self.plan.program, pure=False, retries=0, key=f"make-{keys[0]}-{len(keys)}"
        )
        future.jobs = len(keys)
        return future

    def _finished(self, future: Any) -> None:
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            seconds, processor = future.result()
        except (CommClosedError, FutureCancelledError) as error:
            raise _LostError(str(error)) from error
        except KilledWorker as error:
            raise Refused("every worker that made it died", "see the workers' logs and memory", future.key) from error
        each = seconds / future.jobs
        self.mean = each if self.mean is None else 0.7 * self.mean + 0.3 * each
        self.processor += processor
        self.done += future.jobs
        self.tell(self.done)
