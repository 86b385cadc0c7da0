"""Node types that read and write text files."""

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


def _effect(node: Node[P, R]) -> Node[P, R]:
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


@_effect
@threaded
def write_text(path: str, text: str, encoding: str = "utf-8") -> str:
    """Write a text file, its line ends unchanged, and return the path.

    The write is atomic; an existing file keeps its mode, a symbolic link stays one. Folders are not created.
    Raises OSError (FileNotFoundError, PermissionError, …) naming the path, UnicodeEncodeError for a character
    that is not in the encoding, LookupError for an unknown encoding.
    """
    data = text.encode(encoding)
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe is written to, never replaced
        else:
            _replace(target, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    return path


def _replace(target: Path, data: bytes) -> None:
    """Write a file beside the target, then rename it to the target."""
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
        with suppress(OSError):  # the first error is raised
            new.unlink(missing_ok=True)
        raise
