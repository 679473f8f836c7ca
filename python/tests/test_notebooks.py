import json

import pytest
from conftest import ROOT

nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()


def test_there_are_some():
    assert [path.stem for path in NOTEBOOKS] == ["campaign", "figure", "look-ups", "own-discipline"]
    for path in NOTEBOOKS:
        assert json.loads(path.read_text())["nbformat"] == 4
