"""Codecs: how values of the classes of other libraries are stored, found by class and by stored name.

What the engine has for a library is loaded when a value of one of its classes is met, or a stored name of
one; until then the library is not imported. More come by `register_codec`, or by entry points of the group
`dataflow.codecs`, each named after its library.
"""

from __future__ import annotations

import inspect
import threading
from functools import lru_cache, partial
from importlib.metadata import EntryPoint
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataflow.base.failure import line_of_error
from dataflow.base.history import History
from dataflow.base.logs import masked_logger
from dataflow.core.discovery import offers
from dataflow.core.functions import module_name
from dataflow.diagnostics.values import CODEC_INVALID, CODEC_TWICE
from dataflow.errors import ArgumentInvalid
from dataflow.types.shapes import type_name
from dataflow.types.validation import described
from dataflow.values.forms import has_fields
from dataflow.values.kinds import BY_NAME, BY_TYPE, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.core.discovery import Offer

__all__ = ["GROUP", "kind_named", "kind_of", "register_codec"]

T = TypeVar("T")
LOG: Final = masked_logger("dataflow.codecs")
GROUP: Final = "dataflow.codecs"

#: Types that are stored as JSON, or in a form of their own, so that no codec would be called.
_BUILT_IN: Final = frozenset({bool, NoneType, list, object, History})

_by_type: Final[dict[type, Kind]] = {}
_by_name: Final[dict[str, Kind]] = {}
_loaded: Final[set[str]] = set()
_changing: Final = threading.RLock()  # reentrant, as loading a library registers its codecs


def register_codec(
    type: type[T],
    write: Callable[[T], object],
    read: Callable[[Any], T],
    /,
    *,
    name: str = "",
    shown: Callable[[T], object] | None = None,
) -> None:
    """Register how values of a class of another library are stored, and thereby how they are distinguished.

    `write` returns a value that can be stored and has everything that matters, `read` makes an equal value of
    it. Stored values have the `name`, by default `module:qualname` of the class, and are read by it later.
    `shown` returns the JSON form of a value. Values of derived classes are not included. A class may
    be registered again. Raises ArgumentInvalid for what is not a class or a function, and for a class or name
    that is stored in another way already, as classes with fields are.
    """
    _check(type, {"write": write, "read": read, **({} if shown is None else {"shown": shown})})
    name = name or f"{module_name(type.__module__)}:{type.__qualname__}"
    with _changing:
        other = _by_name.get(name, BY_NAME.get(name))
        if type in BY_TYPE or type in _BUILT_IN or has_fields(type):
            raise ArgumentInvalid(CODEC_TWICE(found=type_name(type), advice="it needs no codec"))
        if other is not None and other.of is not type:
            raise ArgumentInvalid(CODEC_TWICE(found=name, advice="give the codec another name"))
        _add(Kind(name, type, object, write, read, None, shown))


def kind_of(kind: type) -> Kind | None:
    """Return how values of a class are stored, if there is a way; loads the codecs of its library."""
    found = BY_TYPE.get(kind) or _by_type.get(kind)
    if found is not None:
        return found
    for base in kind.__mro__[:-1]:
        _load(base.__module__)
    inherited = (one for base in kind.__mro__ if (one := _by_type.get(base)) is not None)
    return next((one for one in inherited if one.of is kind or one.is_inherited), None)


def kind_named(name: str) -> Kind | None:
    """Return the kind of a stored name, if there is one; loads the codecs of the library in the name."""
    found = BY_NAME.get(name) or _by_name.get(name)
    if found is None and ":" in name:
        _load(name.partition(":")[0])
        found = _by_name.get(name)
    return found


def _add(kind: Kind) -> None:
    _by_type[kind.of] = _by_name[kind.name] = kind


def _load(module: object) -> None:
    """Load the codecs of a library, once: those of the engine, and those that distributions offer."""
    library = module.partition(".")[0] if isinstance(module, str) else ""
    if library in _loaded:
        return
    with _changing:
        if library in _loaded:
            return
        _loaded.add(library)
        for kind in _guarded(library, _OWN.get(library, tuple)):
            _add(kind)
        for offer in _offered().get(library, ()):
            _guarded(f"{library} = {offer.value}", partial(_registered_by, offer))


def _guarded(what: str, load: Callable[[], Iterable[Kind]]) -> Iterable[Kind]:
    """Run foreign code; where it fails, the values of the library are refused, and the log has the reason."""
    try:
        return load()
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        LOG.warning("the codecs of %s cannot be loaded: %s", what, line_of_error(error))
        return ()


def _registered_by(offer: Offer) -> Iterable[Kind]:
    """Call the function of an entry point, which registers its codecs itself."""
    EntryPoint(offer.pack, offer.value, GROUP).load()()
    return ()


@lru_cache(maxsize=1)
def _offered() -> dict[str, list[Offer]]:
    """Return the entry points of codecs by library; the log has those of malformed distributions."""
    found: dict[str, list[Offer]] = {}
    for offer in offers(GROUP):
        if offer.fault is None:
            found.setdefault(offer.pack, []).append(offer)
        else:
            LOG.warning("the codecs of %s cannot be loaded: %s", offer.label, offer.fault.reason)
    return found


def _arrays() -> Iterable[Kind]:
    from dataflow.values.library_arrays import kinds

    return kinds()


def _pandas() -> Iterable[Kind]:
    from dataflow.values.library_frames import kinds_of_pandas

    return kinds_of_pandas()


def _polars() -> Iterable[Kind]:
    from dataflow.values.library_frames import kinds_of_polars

    return kinds_of_polars()


def _images() -> Iterable[Kind]:
    from dataflow.values.library_types import kinds_of_images

    return kinds_of_images()


def _pydantic() -> Iterable[Kind]:
    from dataflow.values.library_types import kinds_of_pydantic

    return kinds_of_pydantic()


#: What the engine has, by the top-level module of the library.
_OWN: Final[dict[str, Callable[[], Iterable[Kind]]]] = {
    "PIL": _images,
    "numpy": _arrays,
    "pandas": _pandas,
    "polars": _polars,
    "pydantic": _pydantic,
    "pydantic_core": _pydantic,
}


def _check(kind: object, functions: dict[str, object]) -> None:
    if not inspect.isclass(kind):
        raise ArgumentInvalid(CODEC_INVALID(what="type", expected="a class", found=described(kind)))
    for what, function in functions.items():
        if not callable(function) or inspect.iscoroutinefunction(function):
            problem = CODEC_INVALID(
                what=what, expected="a function that is not async", found=described(function)
            )
            raise ArgumentInvalid(problem)
