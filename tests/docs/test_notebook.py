"""The notebooks among the examples: executed from above, their cells print what they show."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.pages import DOCS

NOTEBOOKS: Final = sorted((DOCS / "examples").glob("*.ipynb"))
PATIENCE: Final = 300  # seconds a cell, and until the kernel is there


def shown_by(notebook: Any) -> list[tuple[str, list[str]]]:
    """List the cells that show something, each with what it shows."""
    return [
        (cell.source, [output.get("text") or output["data"]["text/plain"] for output in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.outputs
    ]


@pytest.mark.timeout(900)  # a kernel is started
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    kept: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    executed = deepcopy(kept)
    NotebookClient(executed, timeout=PATIENCE, startup_timeout=PATIENCE).execute()
    assert shown_by(kept)
    assert shown_by(executed) == shown_by(kept)
