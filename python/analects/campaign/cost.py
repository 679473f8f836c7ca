"""What a plan costs, from jobs of it that are measured."""

from __future__ import annotations

import collections
import dataclasses
import random

from analects import _core
from analects.campaign.plan import Plan
from analects.campaign.work import make
from analects.errors import Refused

#: Cores that an estimate tells of.
CORES = (1, 16, 500)


@dataclasses.dataclass(frozen=True)
class Cost:
    """Processor time of what a plan lacks.

    Attributes:
        missing: Jobs without a result.
        measured: Of them, how many were made to measure.
        hours: Hours of one core: each experiment's mean of its measured jobs, times its jobs.
        low: Lower end of the 95 % interval of `hours`; None if an experiment had fewer than four measured jobs.
        high: Upper end.
        longest: Seconds of the longest job measured: no number of cores ends sooner.
    """

    missing: int
    measured: int
    hours: float
    low: float | None
    high: float | None
    longest: float

    def wall(self, cores: int) -> float:
        """Hours on so many cores of this kind, all busy but for the last job."""
        return max(self.hours / cores, self.longest / 3600) + (self.longest / 3600 if cores > 1 else 0.0) / 2


def estimate(plan: Plan, *, each: int = 4, seed: int = 1) -> Cost:
    """Makes up to `each` missing jobs of every experiment of the plan, drawn by `seed`, one at a time.

    Their results are kept: a campaign does not make them again.

    Raises:
        Refused: If nothing is missing, or a job cannot be run.
    """
    missing = plan.missing()
    if not missing:
        raise Refused("nothing is missing", "list another plan", plan.name)
    groups = collections.defaultdict(list)
    for key in missing:
        groups[plan.part_of[key]].append(key)
    draw = random.Random(seed)
    total, variance, measured, longest = 0.0, 0.0, 0, 0.0
    has_interval = True
    for keys in groups.values():
        chosen = draw.sample(keys, min(each, len(keys)))
        took = []
        for key in chosen:
            _, processor = make(plan.store, [key], plan.program)
            took.append(processor)
        count, mean = len(took), sum(took) / len(took)
        total += mean * len(keys)
        measured += count
        longest = max(longest, *took)
        if count < len(keys):
            has_interval &= count >= 4
            spread = sum((one - mean) ** 2 for one in took) / max(1, count - 1)
            variance += len(keys) ** 2 * spread / count * (1 - count / len(keys))
    half = _core.student(each - 1) * variance**0.5 if has_interval else 0.0
    low = max(0.0, total - half) / 3600 if has_interval else None
    high = (total + half) / 3600 if has_interval else None
    return Cost(len(missing), measured, total / 3600, low, high, longest)
