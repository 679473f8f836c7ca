import pandas as pd
import pytest

import analects
from analects import Refused

pa = pytest.importorskip("pyarrow")


def test_tables_that_others_read(short, tmp_path):
    ran = analects.run(short, seeds=3, store=tmp_path, without="page")
    tables = analects.write_parquet(tmp_path)
    jobs, values, figures = (pd.read_parquet(tables[name]) for name in ("jobs", "values", "figures"))
    assert len(jobs) == 12 and set(jobs["engine"]) == {"sim"}
    assert sorted(jobs["without"].fillna("")) == [""] * 6 + ["page"] * 6
    runs = jobs[jobs["without"].isna()].merge(values, on="key")
    found = runs[runs["metric"] == "fct"].groupby(["discipline", "seed"])["value"].mean()
    expected = ran.runs.set_index(["discipline", "seed"])["fct"]
    pd.testing.assert_series_equal(found.sort_index(), expected.sort_index(), check_names=False, check_index_type=False)
    assert set(figures["of"]) >= {"calls", "flows", "links", "run"}
    metadata = pa.parquet.read_schema(tables["jobs"]).metadata
    assert metadata[b"analects.schema"] == b"1"
    assert pa.parquet.read_table(tables["senders"]).num_rows == 0
    duckdb = pytest.importorskip("duckdb")
    query = f"""select j.discipline, avg(v.value) from '{tables["values"]}' v join '{tables["jobs"]}' j using (key)
                where v.metric = 'fct' and j.without is null group by 1"""
    means = dict(duckdb.sql(query).fetchall())
    assert means["pfifo"] == pytest.approx(expected["pfifo"].mean())


def test_senders_are_a_table(short, tmp_path):
    ran = analects.run(short, seeds=1, set={"senders": "100ms"}, store=tmp_path)
    senders = pd.read_parquet(analects.write_parquet(tmp_path)["senders"])
    assert len(senders) == len(ran.senders) and senders["key"].nunique() == 2


def test_a_hostile_store(short, tmp_path):
    analects.run(short, seeds=1, store=tmp_path)
    one = sorted(tmp_path.glob("results/??/*.json"))[0]
    (one.parent / ("0" * 32 + ".json")).write_text("{}")
    (one.parent / "x.json").write_text("[]")
    one.write_bytes(one.read_bytes()[:-20])
    assert len(analects.read_store(tmp_path)) == 1
    with pytest.raises(Refused, match="no such store"):
        analects.read_store(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="no such store"):
        analects.write_parquet(tmp_path / "empty")
