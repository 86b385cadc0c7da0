from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from dataflow.cli.output import tolerant, write


def test_what_an_encoding_lacks_is_written_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with tolerant():
        assert write(sys.stdout, "Zoë \udcff")
    assert raw.getvalue() == b"Zo\\xeb \\udcff\n"
    assert sys.stdout.errors == "strict"


def test_a_module_that_closes_standard_output_is_told(tmp_path: Path) -> None:
    (tmp_path / "closing.py").write_text(
        "import sys\nsys.stdout.close()\nfrom dataflow import Flow\nf = Flow('f')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "dataflow.cli", "check", "closing.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: DF1426 ")
