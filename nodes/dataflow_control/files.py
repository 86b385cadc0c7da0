"""Node types for text files."""

from __future__ import annotations

import codecs
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar
from uuid import uuid4

from dataflow import Node, threaded

__all__ = ["read_text", "write_text"]

P = ParamSpec("P")
R = TypeVar("R")


def effect(node: Node[P, R]) -> Node[P, R]:
    return node.with_(effect=True)


@threaded
def read_text(path: str, encoding: str = "utf-8") -> str:
    """Read a whole text file, its line ends as they are.

    A byte order mark at the start of a UTF-8 file is dropped. Raises OSError (FileNotFoundError, …) naming
    the path, UnicodeDecodeError for bytes that are not in the encoding, LookupError for an unknown encoding.
    """
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"
    with Path(path).open(encoding=encoding, newline="") as file:
        return file.read()


@effect
@threaded
def write_text(path: str, text: str, encoding: str = "utf-8") -> str:
    """Write a text file, its line ends as they are, and give the path back.

    The file appears, or changes, whole or not at all; a file that was there keeps its mode, a symbolic link
    stays one. Folders are not made. Raises OSError (FileNotFoundError, PermissionError, …) naming the path,
    UnicodeEncodeError for a character that the encoding lacks, LookupError for an unknown encoding.
    """
    data = text.encode(encoding)
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe is written to, never replaced
        else:
            replace(target, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    return path


def replace(target: Path, data: bytes) -> None:
    """Write a file beside the target, then put it in the target's place."""
    new = target.with_name(f".{uuid4().hex}.tmp")
    try:
        with new.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, new)
        new.replace(target)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what counts
            new.unlink(missing_ok=True)
        raise
