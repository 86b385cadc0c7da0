"""The nodes of the control pack that read and write text files."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from dataflow import Flow
from dataflow_control import read_text, write_text

TEXT = "Zeile\r\n日本\n\n\re\u0301 🙂\x0c\u2028 no line end at the end"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_text_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT.encode())
    assert await read_text(path=str(tmp_path / "in.txt")) == TEXT


async def test_a_byte_order_mark_is_dropped_and_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.touch()
    assert await read_text(path=str(path)) == ""
    path.write_bytes(b"\xef\xbb\xbf" + "\ufeffText".encode())
    for encoding in ("utf-8", "UTF8", "utf_8"):
        assert await read_text(path=str(path), encoding=encoding) == "\ufeffText"


async def test_a_text_is_read_in_the_encoding_given(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes("Größe".encode("latin-1"))
    assert await read_text(path=str(tmp_path / "in.txt"), encoding="latin-1") == "Größe"
    with pytest.raises(UnicodeDecodeError):
        await read_text(path=str(tmp_path / "in.txt"))
    with pytest.raises(LookupError, match="klingon"):
        await read_text(path=str(tmp_path / "in.txt"), encoding="klingon")


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.txt")
    with pytest.raises(FileNotFoundError) as caught:
        await read_text(path=path)
    assert caught.value.filename == path
    with pytest.raises(IsADirectoryError):
        await read_text(path=str(tmp_path))


async def test_a_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "out.txt")
    assert await write_text(path=path, text=TEXT) == path
    assert (tmp_path / "out.txt").read_bytes() == TEXT.encode()
    assert await read_text(path=path) == TEXT


async def test_the_path_given_is_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert await write_text(path="out.txt", text="Text") == "out.txt"


async def test_a_text_is_written_in_the_encoding_given(tmp_path: Path) -> None:
    await write_text(path=str(tmp_path / "out.txt"), text="Größe", encoding="latin-1")
    assert (tmp_path / "out.txt").read_bytes() == "Größe".encode("latin-1")


async def test_a_file_is_changed_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    await write_text(path=str(path), text="new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


async def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual.txt").touch()
    await write_text(path=str(tmp_path / "out.txt"), text="Text")
    assert (tmp_path / "out.txt").stat().st_mode == (tmp_path / "usual.txt").stat().st_mode


async def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    await write_text(path=str(tmp_path / "link.txt"), text="new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


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


async def test_a_text_that_cannot_be_encoded_leaves_the_file_alone(tmp_path: Path) -> None:
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


async def test_a_failed_replacement_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        await write_text(path=str(tmp_path / "out.txt"), text="new")
    assert caught.value.filename == str(tmp_path / "out.txt")
    assert names_in(tmp_path) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"


async def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases: tuple[tuple[Path, type[OSError]], ...] = (
        (tmp_path / "missing" / "out.txt", FileNotFoundError),
        (tmp_path, IsADirectoryError),
        (tmp_path / "file" / "out.txt", NotADirectoryError),
    )
    for path, error in cases:
        with pytest.raises(error) as caught:
            await write_text(path=str(path), text="Text")
        assert caught.value.filename == str(path)
    assert not (tmp_path / "missing").exists()


async def test_a_flow_copies_a_file(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT.encode())
    with Flow("copy") as copy:
        page = copy.add(read_text, path=copy.input("path", str))
        copy.output("written", copy.add(write_text, path=copy.input("to", str), text=page.out).out)
    result = await copy.run(path=str(tmp_path / "in.txt"), to=str(tmp_path / "out.txt"))
    assert result["written"] == str(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == TEXT.encode()
