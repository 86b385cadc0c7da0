"""`dataflow convert`: write a flow in another format."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from dataflow.base.wording import listed, visible
from dataflow.cli.documents import written
from dataflow.cli.output import Refused, tell, write
from dataflow.cli.targets import BranchOption, FileArgument, folder_of, with_branch
from dataflow.diagnostics.commands import OUTPUT_UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["convert"]

#: `module:function`, or a pattern of several functions.
_FUNCTIONS: Final = re.compile(r"(?P<module>\w{1,100})[\w.]*:\S+")


def convert(
    file: FileArgument,
    to: Annotated[  # noqa: ARG001 - the one format that is written
        Literal["native"], typer.Option(metavar="FORMAT", help="The format to write.")
    ] = "native",
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="PATH", help="Write to this file instead of standard output."),
    ] = None,
    branch: BranchOption = None,
) -> None:
    """Write a flow, such as a file of another system, as an equivalent native document.

    It is YAML, or JSON if PATH ends in .json, with the settings of the flow. A flow with problems is not
    written, nor what could not be read again.
    Differences from the original are reported on standard error, as are the files that the document needs
    from the folder of the original if it is written to another one. Nothing that a document names is
    imported; a target in Python is.
    """
    target = with_branch(file, branch)
    made = written(target, output)
    if output is None:
        write(sys.stdout, made.text.rstrip("\n"))
        return
    missing = left_behind(made.document, folder_of(target), Path(output))
    if missing is not None:
        tell(visible(f"note: {missing}"))
    try:
        Path(output).write_text(made.text, encoding="utf-8")
    except OSError as error:
        raise Refused([OUTPUT_UNWRITABLE("--output", reason=f"{error.strerror}: {output}")]) from error


def left_behind(document: Mapping[str, Any], folder: Path, output: Path) -> str | None:
    """Return a note on the files that a document written elsewhere needs from the original folder."""
    if output.resolve().parent == folder.resolve():
        return None
    names = named_beside(document, folder)
    if not names:
        return None
    return (
        f"{output} names what stands in {folder.resolve()}, and does not run from another folder: "
        f"{listed(names, len(names))}; write it there, or take these along"
    )


def named_beside(document: Mapping[str, Any], folder: Path) -> list[str]:
    """List the relative paths and the functions in a document that are found in this folder."""
    uses = document.get("uses", {}).values()
    modules = [name for name in uses if _is_module(name.partition(".")[0], folder)]
    found = [text for text in _texts(document) if _is_beside(text, folder)]
    return list(dict.fromkeys([*modules, *found]))


def _texts(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield all strings, in the order of the document."""
    left: list[Any] = [document]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case Mapping() as part:
                left.extend(reversed([*part.values()]))
            case list() as part:
                left.extend(reversed(part))
            case _:
                pass  # numbers and booleans


def _is_beside(text: str, folder: Path) -> bool:
    function = _FUNCTIONS.fullmatch(text)
    if function is not None and _is_module(function["module"], folder):
        return True
    if PurePath(text).is_absolute():
        return False
    return _is_file(folder / text) or (
        "/" in text and _is_folder(folder / text)
    )  # a name without a slash is a word


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a file name, as a long text
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # not a file name
        return False


def _is_module(name: str, folder: Path) -> bool:
    return bool(name) and (_is_file(folder / f"{name}.py") or _is_folder(folder / name))
