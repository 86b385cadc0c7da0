from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from dataflow.cli.output import Refused, is_terminal, shout, tell, tolerant, write


def test_what_an_encoding_lacks_is_written_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with tolerant():
        assert write(sys.stdout, "Zoë \udcff")
    assert raw.getvalue() == b"Zo\\xeb \\udcff\n"
    assert sys.stdout.errors == "strict"


def test_what_cannot_be_written_is_refused() -> None:
    with Path("/dev/full").open("w") as stream, pytest.raises(Refused, match="No space left on device"):
        write(stream, "text")


def test_without_standard_error_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    tell("text")
    shout("text")
    assert not write(None, "text")


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    assert not is_terminal(stream)
    stream.close()
    assert not is_terminal(stream)
    assert not is_terminal(None)


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
