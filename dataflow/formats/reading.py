"""Read the text of a document, YAML or JSON: its value, and where each part of it stands."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from dataflow.formats.json_reading import read_json
from dataflow.formats.tree import Lines, Positions, Tree
from dataflow.formats.yaml_reading import read_yaml

__all__ = ["MOST_BYTES", "decode", "read"]

MOST_BYTES: Final = 10_000_000
BYTE_ORDER_MARK: Final = "\ufeff"


def decode(data: bytes, name: str) -> str:
    """Return the text of a file; raises FormatError where it is no UTF-8, or too large."""
    tree = Tree(name)
    data = data.removeprefix(BYTE_ORDER_MARK.encode())
    if len(data) > MOST_BYTES:
        _fail_size(data, tree)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        found = f"found the byte 0x{data[error.start]:02x}"
        tree.fail(f"is no UTF-8 text: {found}", Lines(before).place(len(before)))


def read(text: str, name: str, *, takes_words: bool = False) -> tuple[Any, Positions]:
    """Read a document; `name` is its file's, which is read as JSON if it ends in `.json`, else as YAML.

    With `takes_words` the keys `true:` and `false:` are text, and `refused` of the positions tells of them.

    Raises FormatError with line and column: for what is no YAML or JSON, duplicate keys, keys that are no
    text, aliases inside their own anchor, aliases that expand beyond 10 MB, more than 10 MB, more than 100
    levels, numbers of more than 1000 digits.
    """
    tree = Tree(name, takes_words=takes_words)
    _check_size(text, tree)
    text = text.removeprefix(BYTE_ORDER_MARK)
    if name.lower().endswith(".json"):
        read_json(text, tree)
    else:
        read_yaml(text, tree)
    return tree.finish()


def _check_size(text: str, tree: Tree) -> None:
    if len(text) * 4 <= MOST_BYTES:
        return
    data = text.encode(errors="surrogatepass")
    if len(data) > MOST_BYTES:
        _fail_size(data, tree)


def _fail_size(data: bytes, tree: Tree) -> NoReturn:
    before = data[:MOST_BYTES].decode(errors="ignore")
    tree.fail(f"is larger than {MOST_BYTES // 1_000_000} MB", Lines(before).place(len(before)))
