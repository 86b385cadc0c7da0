"""How arrays, scalars and dtypes of NumPy are stored: as their dtype and shape, and their bytes or items."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dataflow.values.kinds import Kind
from dataflow.values.refusals import Refused, not_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["kinds"]

#: The kinds of dtypes whose items are stored one by one: objects, and text, in which secrets are masked (the
#: fields of a structured array that has text are stored one by one).
_ONE_BY_ONE: Final = "OUT"
_TIMES: Final = "mM"


def kinds() -> Iterable[Kind]:
    """Return how values of NumPy are stored."""
    numpy = import_module("numpy")
    return (
        Kind("numpy:ndarray", numpy.ndarray, list, _array_apart, _array, shown=_array_shown),
        Kind("numpy:generic", numpy.generic, list, _array_apart, _scalar, None, _scalar_shown, True),
        Kind("numpy:dtype", numpy.dtype, (str, list), _dtype_apart, _dtype, None, str, True),
    )


def _dtype_apart(dtype: Any) -> Any:
    if dtype.kind == "T":
        if hasattr(dtype, "na_object"):
            raise Refused(not_storable(type(dtype), "its missing strings are objects", "use `dtype=object`"))
        return "T"
    if dtype.hasobject and dtype.kind != "O":
        raise Refused(
            not_storable(type(dtype), "some of its fields are objects", "store the fields one by one")
        )
    return import_module("numpy.lib.format").dtype_to_descr(dtype)


def _dtype(stored: Any) -> Any:
    if stored == "T":
        return import_module("numpy").dtypes.StringDType()
    return import_module("numpy.lib.format").descr_to_dtype(stored)


def _array_apart(value: Any) -> list[Any]:
    """Take an array or a scalar apart; the order in memory is not kept."""
    array = import_module("numpy").asarray(value)
    described = _dtype_apart(array.dtype)
    data: Any
    if array.dtype.kind in _ONE_BY_ONE:
        data = array.ravel().tolist()
    elif array.dtype.names and _has_text(array.dtype):
        data = {name: _array_apart(array[name]) for name in array.dtype.names}
    else:
        data = array.tobytes()
    return [described, list(array.shape), data]


def _has_text(dtype: Any) -> bool:
    names = dtype.names or ()
    return dtype.base.kind == "U" or any(_has_text(dtype[name].base) for name in names)


def _array(stored: list[Any]) -> Any:
    numpy = import_module("numpy")
    described, shape, data = stored
    dtype = _dtype(described)
    if type(data) is bytes:
        return numpy.ndarray(shape, dtype, buffer=data).copy()
    if type(data) is dict:
        array = numpy.zeros(shape, dtype)
        for name, field in data.items():
            array[name] = _array(field)
        return array
    array = numpy.empty(len(data), dtype)
    for number, item in enumerate(data):  # as a whole, lists among the items would become dimensions
        array[number] = item
    return array.reshape(shape)


def _scalar(stored: list[Any]) -> Any:
    return _array(stored)[()]


def _array_shown(array: Any) -> Any:
    return array.astype(str).tolist() if array.dtype.kind in _TIMES else array.tolist()


def _scalar_shown(scalar: Any) -> Any:
    return str(scalar) if scalar.dtype.kind in _TIMES else scalar.item()
