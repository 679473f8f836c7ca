"""Results as frames, and one discipline against another."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import json
import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from analects import _core, registry
from analects.errors import Refused

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


#: The frames over time, and their columns.
SERIES = {
    "frames": ["run", "call", "time_s", "delay_ms"],
    "shares": ["run", "link", "flow", "time_s", "mbps"],
    "sojourn": ["run", "link", "time_s", "mean_ms", "max_ms"],
    "classes": ["run", "time_s", "link", "flow", "class"],
}

#: The columns of the frame of senders.
SENDERS = [
    "run", "flow", "name", "control", "time_s", "window_bytes", "in_flight_bytes", "srtt_ms", "pacing_mbps",
    "delivered_mbps", "phase", "limit",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One discipline less another one, run by run with the same seed.

    Attributes:
        metric: What.
        ours: Whose figure.
        theirs: From whose it is taken.
        value: The difference, or the change in percent.
        low: Lower end of the 95 % interval; None if the runs do not suffice for one.
        high: Upper end.
        runs: Pairs of runs.
        unit: Of the value.
    """

    metric: str
    ours: str
    theirs: str
    value: float
    low: float | None
    high: float | None
    runs: int
    unit: str

    @property
    def is_told(self) -> bool:
        """Whether the interval leaves out zero: of this comparison alone."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def __str__(self) -> str:
        within = "no interval" if self.low is None else f"{self.low:.3g} to {self.high:.3g}"
        return (
            f"{self.metric}: {self.ours} less {self.theirs}: {self.value:.3g} {self.unit} ({within}; {self.runs} pairs)"
        )


#: The values of both sides, pair by pair; the metric, its statistic, and whether in percent.
_Pairs: TypeAlias = "tuple[list[list[float]], list[list[float]], str, str, bool]"


def _compared(ours: str, theirs: str, pairs: _Pairs) -> Comparison:
    _, _, metric, _, percent = pairs
    found = _core.compare(*pairs)
    if found is None:
        raise Refused("there are no values to compare", "see the frame runs", metric)
    value, interval, runs = found
    low, high = interval or (None, None)
    unit = "%" if percent else _described(metric)["unit"]
    return Comparison(metric, ours, theirs, value, low, high, runs, unit)


def _described(metric: str) -> dict[str, Any]:
    return registry.describe(metric.split(":")[0])


class Results:
    """Results of runs. `len` is their number.

    The properties `runs`, `figures`, `frames`, `shares`, `sojourn`, `classes` and `senders` are frames of pandas;
    `arrow` and `polars` make others of them.
    """

    def __init__(self, core: _core.Results) -> None:
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(self._runs["discipline"]))
        return f"<{len(self)} runs: {names}>"

    @functools.cached_property
    def _runs(self) -> pd.DataFrame:
        rows = [{"discipline": name, "seed": seed, **variant} for name, seed, variant in self._core.runs()]
        return pd.DataFrame(rows, columns=None if rows else ["discipline", "seed"])

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """A row for each run: discipline, seed, what was varied, and the mean of each metric it has values of."""
        columns = {}
        for name in registry.metrics().index:
            each = self._core.values(name)
            if any(each):
                columns[name] = [sum(values) / len(values) if values else None for values in each]
        return pd.concat([self._runs, pd.DataFrame(columns, dtype=float)], axis=1)

    def values(self, metric: str) -> pd.DataFrame:
        """All values of a metric, `NAME` or `NAME:ENTRY`: a row for each call, page load, transfer or queue.

        `name` is which of them it is; empty for a value of several, and for one of the first of several queues.

        Raises:
            Refused: If there is no such metric.
        """
        each = self._core.named_values(metric)
        place = [number for number, values in enumerate(each) for _ in values]
        frame = self._runs.iloc[place].reset_index(drop=True)
        frame.insert(0, "run", place)
        frame["name"] = pd.Series([name for values in each for name, _ in values], dtype=str)
        frame["value"] = pd.Series([value for values in each for _, value in values], dtype=float)
        return frame

    @functools.cached_property
    def figures(self) -> pd.DataFrame:
        """Every figure of every call, page, flow and queue, a row each, as `analects run --format csv` has them."""
        return pd.read_csv(io.StringIO(self._core.csv()), dtype={"variant": str, "name": str, "of": str})

    @functools.cached_property
    def _series(self) -> dict[str, pd.DataFrame]:
        series = self._core.series()
        return {kind: pd.DataFrame(getattr(series, kind), columns=names) for kind, names in SERIES.items()}

    def _over_time(self, kind: str) -> pd.DataFrame:
        frame = self._series[kind]
        if frame.empty:
            raise Refused("nothing was kept over time", "run with series=True", kind)
        return self._runs[["discipline", "seed"]].merge(frame, left_index=True, right_on="run")

    @property
    def frames(self) -> pd.DataFrame:
        """Every frame of every call: when it was handed over, and its delay; none for a lost one."""
        return self._over_time("frames")

    @property
    def shares(self) -> pd.DataFrame:
        """What left each queue of each flow, Mbit/s by bin of time."""
        return self._over_time("shares")

    @property
    def sojourn(self) -> pd.DataFrame:
        """How long packets waited in each queue, mean and most, by bin of time."""
        return self._over_time("sojourn")

    @property
    def classes(self) -> pd.DataFrame:
        """When a flow came into a class of a discipline that has classes."""
        return self._over_time("classes")

    @functools.cached_property
    def senders(self) -> pd.DataFrame:
        """What each flow's sender was at: window, bytes in flight, round trip, rates, phase, and what it waited for.

        Raises:
            Refused: If no run's scenario asks for `senders`.
        """
        frame = pd.DataFrame(self._core.senders(), columns=SENDERS)
        if frame.empty:
            raise Refused("no run tells of its senders", 'set={"senders": "100ms"}', "senders")
        return self._runs[["discipline", "seed"]].merge(frame, left_index=True, right_on="run")

    def arrow(self, kind: str = "runs") -> pa.Table:
        """A frame of this name as a table of Arrow."""
        import pyarrow as pa

        return pa.Table.from_pandas(self._named(kind), preserve_index=False)

    def polars(self, kind: str = "runs") -> pl.DataFrame:
        """A frame of this name as a frame of polars, through Arrow."""
        import polars as pl

        frame = pl.from_arrow(self.arrow(kind))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def _named(self, kind: str) -> pd.DataFrame:
        known = ("runs", "figures", "senders", *SERIES)
        if kind not in known:
            raise Refused(f"there is no frame {kind!r}", f"there are: {', '.join(known)}")
        frame = getattr(self, kind)
        assert isinstance(frame, pd.DataFrame)
        return frame

    def dicts(self) -> list[dict[str, Any]]:
        """The results as `analects run --format json` has them."""
        made: list[dict[str, Any]] = json.loads(self._core.json())
        return made

    def report(self, path: str | os.PathLike[str], *, plots: str | os.PathLike[str] | None = None) -> None:
        """Writes the report, one HTML file, and into the folder `plots`, if named, each plot as SVG and CSV.

        `plots/plot.py` draws them again with matplotlib.

        Raises:
            Refused: If these are results of several scenarios.
            OSError: If it cannot be written.
        """
        from analects import __version__

        folder = None if plots is None else os.fspath(plots)
        pathlib.Path(path).write_text(self._core.report(__version__, folder), "utf-8")

    def mean(self, metric: str, discipline: str) -> tuple[float, float | None, float | None]:
        """A discipline's figure in tables (mostly a mean over its runs), and the ends of its 95 % interval, if any.

        Raises:
            Refused: If a name is unknown, or there are no values.
        """
        values = list(self._side(self._core.values(metric), discipline).values())
        found = _core.estimated(values, metric, _described(metric)["statistic"] or "mean")
        if found is None:
            raise Refused("there are no values", "see the frame runs", metric)
        value, interval, _ = found
        return (value, *(interval or (None, None)))

    def compare(
        self, metric: str, ours: str, theirs: str, *, statistic: str | None = None, percent: bool = False
    ) -> Comparison:
        """`ours` less `theirs`, both names of disciplines, paired by seed and variant.

        Args:
            metric: `NAME` or `NAME:ENTRY`.
            ours: A discipline, as it stands in `runs`.
            theirs: Another one.
            statistic: `mean`, `median`, `p95`, `max`; by default that of the metric in tables.
            percent: The change in percent of theirs.

        Raises:
            Refused: If a name is unknown, or there are no values to compare.
        """
        return _compared(ours, theirs, self._pairs(metric, ours, theirs, statistic, percent))

    def _pairs(self, metric: str, ours: str, theirs: str, statistic: str | None, percent: bool) -> _Pairs:
        each = self._core.values(metric)
        sides = [self._side(each, name) for name in (ours, theirs)]
        both = [key for key in sides[0] if key in sides[1]]
        if not both:
            raise Refused("no run of one has the seed and the variant of one of the other", None, f"{ours}, {theirs}")
        of_ours, of_theirs = ([side[key] for key in both] for side in sides)
        return of_ours, of_theirs, metric, statistic or _described(metric)["statistic"] or "mean", percent

    def _side(self, each: list[list[float]], discipline: str) -> dict[tuple[object, ...], list[float]]:
        keyed = {}
        names = dict.fromkeys(self._runs["discipline"])
        if discipline not in names:
            raise Refused(f"there is no run of {discipline!r}", f"there are: {', '.join(names)}")
        for values, (name, seed, variant) in zip(each, self._core.runs(), strict=True):
            if name == discipline:
                keyed[seed, *sorted(variant.items())] = values
        return keyed

    def comparisons(self, metrics: Iterable[str], theirs: str, *, percent: bool = False) -> pd.DataFrame:
        """Every other discipline less `theirs`, a row for each and each metric.

        `is_told` is judged among all rows: of those that are told at most one in twenty is chance, so that an interval
        that leaves out zero may not be enough among many. `p` is the complement of the least confidence whose interval
        leaves out zero, 0.0001 to 0.5, or 1 above that.

        Raises:
            Refused: As `compare`.
        """
        others = [name for name in dict.fromkeys(self._runs["discipline"]) if name != theirs]
        rows: list[tuple[Comparison, float]] = []
        for metric, name in itertools.product(metrics, others):
            pairs = self._pairs(metric, name, theirs, None, percent)
            rows.append((_compared(name, theirs, pairs), _core.least_p(*pairs)))
        limit = _core.told_together([p for _, p in rows])
        return pd.DataFrame(
            [dataclasses.asdict(row) | {"p": p, "is_told": row.is_told and p <= limit} for row, p in rows]
        )
