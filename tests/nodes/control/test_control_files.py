"""The nodes of the control pack that read and write text files."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from dataflow_control import read_text, write_text

TEXT = "Zeile\r\n日本\n\n\re\u0301 🙂\x0c\u2028 no line end at the end"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_text_is_written_and_read_as_it_is_in_the_encoding_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    assert await write_text(path=str(path), text=TEXT) == str(path)
    assert path.read_bytes() == TEXT.encode()
    assert await read_text(path=str(path)) == TEXT
    monkeypatch.chdir(tmp_path)
    assert await write_text(path="out.txt", text="") == "out.txt"
    assert await read_text(path=str(path)) == ""
    path.write_bytes(b"\xef\xbb\xbf" + "\ufeffText".encode())  # a byte order mark is dropped
    for encoding in ("utf-8", "UTF8", "utf_8"):
        assert await read_text(path=str(path), encoding=encoding) == "\ufeffText"
    path = tmp_path / "in.txt"
    await write_text(path=str(path), text="Größe", encoding="latin-1")
    assert path.read_bytes() == "Größe".encode("latin-1")
    assert await read_text(path=str(path), encoding="latin-1") == "Größe"
    with pytest.raises(UnicodeDecodeError):
        await read_text(path=str(path))
    with pytest.raises(LookupError, match="klingon"):
        await read_text(path=str(path), encoding="klingon")


async def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases: tuple[tuple[str, type[OSError]], ...] = (
        ("missing/out.txt", FileNotFoundError), ("", IsADirectoryError), ("file/out.txt", NotADirectoryError),
    )  # fmt: skip
    for name, error in cases:
        path = str(tmp_path / name)
        for work in (write_text(path=path, text="Text"), read_text(path=path)):
            with pytest.raises(error) as caught:
                await work
            assert caught.value.filename == path
    assert not (tmp_path / "missing").exists()


async def test_a_file_keeps_its_mode_a_new_one_has_the_usual_and_a_link_stays_one(tmp_path: Path) -> None:
    path, new, usual, link = (tmp_path / f"{name}.txt" for name in ("out", "new", "usual", "link"))
    path.write_text("old")
    path.chmod(0o640)
    usual.touch()
    link.symlink_to("out.txt")
    for written in (new, link):
        await write_text(path=str(written), text="new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert link.is_symlink()
    assert new.stat().st_mode == usual.stat().st_mode


async def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    await write_text(path=str(pipe), text="Text")
    reader.join()
    assert read == ["Text"]
    assert pipe.is_fifo()


async def test_a_text_that_cannot_be_encoded_or_written_leaves_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.txt").write_text("old")
    cases: tuple[tuple[str, str, type[Exception]], ...] = (
        ("日本", "ascii", UnicodeEncodeError),
        ("\ud800", "utf-8", UnicodeEncodeError),
        ("", "klingon", LookupError),
    )
    for text, encoding, error in cases:
        with pytest.raises(error):
            await write_text(path=str(tmp_path / "out.txt"), text=text, encoding=encoding)
        assert names_in(tmp_path) == ["out.txt"]
        assert (tmp_path / "out.txt").read_text() == "old"

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        await write_text(path=str(tmp_path / "out.txt"), text="new")
    assert caught.value.filename == str(tmp_path / "out.txt")
    assert names_in(tmp_path) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"
