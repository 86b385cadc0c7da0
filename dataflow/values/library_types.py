"""How values of pydantic's own types and images are stored, and which of them are secrets."""

from __future__ import annotations

from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from dataflow.values.kinds import Kind
from dataflow.values.refusals import Refused, not_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["kinds_of_images", "kinds_of_pydantic"]


def kinds_of_pydantic() -> Iterable[Kind]:
    """Return how URLs and other values of pydantic's own classes are stored: mostly as their text."""
    core, networks, types = map(import_module, ("pydantic_core", "pydantic.networks", "pydantic.types"))
    base = networks.AnyUrl.__base__, networks.PostgresDsn.__base__  # of URLs with one host, and with several
    urls = [kind for kind in vars(networks).values() if isinstance(kind, type) and issubclass(kind, base)]
    for kind in (core.Url, core.MultiHostUrl, *(kind for kind in urls if kind not in base)):
        library = "pydantic_core" if kind.__module__.startswith("pydantic_core") else "pydantic"
        yield Kind(f"{library}:{kind.__name__}", kind, str, str, kind, None, str)
    yield Kind("pydantic:ByteSize", types.ByteSize, int, int, types.ByteSize, None, int)
    yield Kind(
        "pydantic:NameEmail",
        networks.NameEmail,
        list,
        _email_apart,
        lambda v: networks.NameEmail(*v),
        None,
        str,
    )


def _email_apart(value: Any) -> list[str]:
    return [value.name, value.email]


def kinds_of_images() -> Iterable[Kind]:
    """Return how images of Pillow are stored: as PNG, which has all modes but a few."""
    image = import_module("PIL.Image")
    return (Kind("PIL:Image", image.Image, bytes, _png, _image, _pixels, _image_shown, True),)


def _png(value: Any) -> bytes:
    file = BytesIO()
    try:
        value.copy().save(file, "PNG")
        same = _pixels(_image(file.getvalue())) == _pixels(value)
    except OSError:  # PNG does not have the mode
        same = False
    if not same:
        why = f"PNG does not have its mode {value.mode}"
        raise Refused(not_storable(type(value), why, "convert it to the mode RGB or RGBA"))
    return file.getvalue()


def _image(data: bytes) -> Any:
    return import_module("PIL.Image").open(BytesIO(data)).copy()


def _pixels(value: Any) -> list[Any]:
    """Return what distinguishes an image; of one with a palette its colours, as PNG shortens the palette."""
    plain = value.convert("RGBA") if value.mode == "P" else value
    return [value.mode, list(value.size), plain.tobytes()]


def _image_shown(value: Any) -> str:
    return f"image {value.mode} {value.width}x{value.height}"
