"""Read files in YAML or JSON: only regular ones, and no more of one than it may be large."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataflow.errors import FormatError
from dataflow.formats.reading import MOST_BYTES, decode, read

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["read_data", "read_file", "reason_of"]


def read_data(path: str | PathLike[str]) -> Any:
    """Read a file in YAML, or in JSON if its name ends in `.json`, by the rules for flow documents.

    Raises FormatError, with line and column, for what is no such file and for what no document may hold: keys
    that are no text or come twice, aliases that expand beyond 10 MB, more than 10 MB, more than 100 levels.
    """
    name = str(path)
    value, _ = read(decode(read_file(Path(path)), name), name)
    return value


def read_file(file: Path) -> bytes:
    """Read a file that is not too large; raises FormatError.

    Pipes and devices are refused: some never end, and to open a pipe that nobody writes to waits for ever.
    """
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise FormatError(str(file), "cannot be read: it is no regular file")
        with file.open("rb") as stream:
            return stream.read(MOST_BYTES + 4)  # a byte order mark does not count
    except (OSError, ValueError) as error:
        raise FormatError(str(file), f"cannot be read: {reason_of(error)}") from error


def reason_of(error: OSError | ValueError) -> str:
    """Say why a file cannot be read, without its name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
