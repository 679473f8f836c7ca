"""A store as data: results of campaigns as frames, and as Parquet that DuckDB, pandas and polars read as it is.

A store is a folder of JSON files (`results/ab/abcd….json`: a job and its result), named by the hash of the job.
Nothing in it is ever run or unpickled.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from analects import _core, registry
from analects.errors import Refused
from analects.results import SENDERS, Results

if TYPE_CHECKING:
    import pyarrow as pa

#: Of the tables' columns; in the metadata of each file as `analects.schema`.
SCHEMA = "1"
TABLES = ("jobs", "values", "figures", "senders")
#: So many results are in memory at a time.
CHUNK = 1000

_KEY = re.compile(r"[0-9a-f]{32}")


def keys(store: str | os.PathLike[str]) -> list[str]:
    """The keys of all results, in order.

    Raises:
        Refused: If there is no such store.
    """
    folder = pathlib.Path(store) / "results"
    if not folder.is_dir():
        raise Refused("there is no such store", "name a folder that results were kept in", os.fspath(store))
    return sorted(path.stem for path in folder.glob("??/*.json") if _KEY.fullmatch(path.stem))


def read_store(store: str | os.PathLike[str], only: list[str] | None = None) -> Results:
    """All results of a store, or those with these keys.

    Raises:
        Refused: If there is no such store.
    """
    core, _ = _core.stored(os.fspath(store), keys(store) if only is None else only)
    return Results(core)


def write_parquet(
    store: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None
) -> dict[str, pathlib.Path]:
    """Writes the store's results as tables of Parquet, by default into the store's folder `parquet`.

    - `jobs.parquet`: a row for each result: `key`, `engine`, `basis`, `discipline`, `seed`, `without`, `scenario`
      (JSON, whole);
    - `values.parquet`: `key`, `metric`, `place`, `value`: each metric's value of each call, page, transfer or queue;
    - `figures.parquet`: `key`, `of`, `name`, `figure`, `value`: all figures, as `analects run --format csv` has them;
    - `senders.parquet`: `key` and the columns of `Results.senders`: what senders were at, of scenarios that ask for it.

    A table appears whole or not at all.

    Raises:
        Refused: If there is no such store, or it has no result.
        OSError: If the tables cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    all_keys = keys(store)
    if not all_keys:
        raise Refused("it has no result", "run a campaign first", os.fspath(store))
    into = pathlib.Path(store) / "parquet" if folder is None else pathlib.Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    schemas = _schemas()
    parts = {name: into / f".{name}.{os.getpid()}.part" for name in schemas}
    writers = {name: pq.ParquetWriter(parts[name], schema) for name, schema in schemas.items()}
    try:
        for start in range(0, len(all_keys), CHUNK):
            for name, frame in _tables(pathlib.Path(store), all_keys[start : start + CHUNK]).items():
                writers[name].write_table(pa.Table.from_pandas(frame, schemas[name], preserve_index=False))
        for writer in writers.values():
            writer.close()
        return {name: part.replace(into / f"{name}.parquet") for name, part in parts.items()}
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def is_up_to_date(store: str | os.PathLike[str]) -> bool:
    """Whether the tables in the store's folder `parquet` have all its results.

    Raises:
        Refused: If there is no such store.
    """
    tables = [pathlib.Path(store) / "parquet" / f"{name}.parquet" for name in TABLES]
    if not keys(store) or not all(table.is_file() for table in tables):
        return False
    # A folder's time is that of the newest file that came into it.
    newest = max(folder.stat().st_mtime_ns for folder in (pathlib.Path(store) / "results").iterdir())
    return newest < min(table.stat().st_mtime_ns for table in tables)


def _schemas() -> dict[str, pa.Schema]:
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    columns = {
        "jobs": [("key", text), ("engine", text), ("basis", text), ("discipline", text), ("seed", pa.uint64()),
                 ("without", text), ("scenario", text)],
        "values": [("key", text), ("metric", text), ("place", pa.uint32()), ("value", number)],
        "figures": [("key", text), ("of", text), ("name", text), ("figure", text), ("value", number)],
        "senders": [("key", text), ("flow", pa.uint32()), ("name", text), ("control", text),
                    ("time_s", number), ("window_bytes", pa.uint64()), ("in_flight_bytes", pa.uint64()),
                    ("srtt_ms", number), ("pacing_mbps", number), ("delivered_mbps", number),
                    ("phase", text), ("limit", text)],
    }  # fmt: skip
    return {name: pa.schema(fields, {"analects.schema": SCHEMA}) for name, fields in columns.items()}


def _tables(store: pathlib.Path, some: list[str]) -> dict[str, pd.DataFrame]:
    core, found = _core.stored(os.fspath(store), some)
    values = []
    for metric in registry.metrics().index:
        for key, each in zip(found, core.values(metric), strict=True):
            values += [(key, metric, place, value) for place, value in enumerate(each)]
    figures = []
    for key in found:
        one, _ = _core.stored(os.fspath(store), [key])
        frame = Results(one).figures[["of", "name", "figure", "value"]]
        frame.insert(0, "key", key)
        figures.append(frame)
    senders = pd.DataFrame(core.senders(), columns=SENDERS)
    senders["run"] = [found[run] for run in senders["run"]]
    whole = {"window_bytes": "UInt64", "in_flight_bytes": "UInt64"}
    return {
        "senders": senders.rename(columns={"run": "key"}).astype(whole),
        "jobs": pd.DataFrame(
            list(_jobs(store, found)),
            columns=["key", "engine", "basis", "discipline", "seed", "without", "scenario"],
        ),
        "values": pd.DataFrame(values, columns=["key", "metric", "place", "value"]),
        "figures": pd.concat(figures) if figures else pd.DataFrame(columns=["key", "of", "name", "figure", "value"]),
    }


def _jobs(store: pathlib.Path, some: list[str]) -> Iterator[tuple[Any, ...]]:
    for key in some:
        job = json.loads((store / "results" / key[:2] / f"{key}.json").read_text("utf-8"))["job"]
        scenario = json.dumps(job["scenario"], sort_keys=True)
        yield key, job["engine"], job["basis"], job["discipline"], job["seed"], job["without"], scenario
