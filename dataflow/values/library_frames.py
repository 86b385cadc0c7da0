"""How frames and series of pandas and polars are stored: as Arrow IPC, of pandas also column by column."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from dataflow.values.kinds import Kind
from dataflow.values.refusals import Refused, not_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["kinds_of_pandas", "kinds_of_polars"]

#: What names dtypes that cannot be made of their own names.
_STRING: Final = "string"
_ARROW: Final = "arrow"


def kinds_of_polars() -> Iterable[Kind]:
    """Return how values of polars are stored: as Arrow IPC, not compressed, so that secrets are found."""
    polars = import_module("polars")

    def read(data: bytes) -> Any:
        return polars.read_ipc(BytesIO(data))

    return (
        Kind("polars:DataFrame", polars.DataFrame, bytes, _ipc, read, shown=_polars_shown),
        Kind(
            "polars:Series",
            polars.Series,
            bytes,
            lambda series: _ipc(series.to_frame()),
            lambda data: read(data).to_series(),
            shown=lambda series: series.to_list(),
        ),
    )


def _ipc(frame: Any) -> bytes:
    file = BytesIO()
    frame.rechunk().write_ipc(file, compression="uncompressed")
    return file.getvalue()


def _polars_shown(frame: Any) -> Any:
    return {"columns": frame.columns, "data": frame.rows()}


def kinds_of_pandas() -> Iterable[Kind]:
    """Return how values of pandas are stored."""
    pandas = import_module("pandas")
    return (
        Kind("pandas:DataFrame", pandas.DataFrame, list, _frame_apart, _frame, _columns_of, _frame_shown),
        Kind("pandas:Series", pandas.Series, list, _series_apart, _series, _series_content, _series_shown),
        Kind("pandas:Index", pandas.Index, list, _index_apart, _index, None, list, True),
        Kind("pandas:Timestamp", pandas.Timestamp, list, _moment_apart, _moment, None, str),
        Kind("pandas:Timedelta", pandas.Timedelta, list, _span_apart, _span, None, str),
        Kind(
            "pandas:Period", pandas.Period, list, lambda one: [one.ordinal, one.freqstr], _period, None, str
        ),
        Kind("pandas:Interval", pandas.Interval, list, _interval_apart, _interval, None, str),
        Kind(
            "pandas:NaT",
            type(pandas.NaT),
            NoneType,
            lambda _: None,
            lambda _: pandas.NaT,
            None,
            lambda _: None,
        ),
        Kind(
            "pandas:NA", type(pandas.NA), NoneType, lambda _: None, lambda _: pandas.NA, None, lambda _: None
        ),
    )


def _frame_apart(frame: Any) -> list[Any]:
    """Take a frame apart: into Arrow IPC if pyarrow gives an equal frame, else into its columns."""
    data = _arrow(frame) if find_spec("pyarrow") is not None else None
    return ["columns", _columns_of(frame)] if data is None else ["arrow", data]


def _frame(stored: list[Any]) -> Any:
    form, data = stored
    if form == "arrow":
        return import_module("pyarrow.ipc").open_stream(data).read_all().to_pandas()
    return _frame_of(*data)


def _arrow(frame: Any) -> bytes | None:
    """Write a frame as Arrow IPC; None where another frame would be read."""
    labels = [frame.columns, frame.index]
    has_objects = any(str(kind) == "object" for kind in [*frame.dtypes, *_dtypes_of(frame.index)])
    # Arrow keeps neither the flag nor the frequencies of levels, which the comparison leaves out.
    has_more = not frame.flags.allows_duplicate_labels or any(
        getattr(level, "freq", None) is not None for level in getattr(frame.index, "levels", [])
    )
    if has_objects or frame.attrs or has_more or frame.columns.inferred_type not in ("string", "integer"):
        return None  # Arrow would choose types for the objects, and write names as strings
    arrow, ipc, testing = map(import_module, ("pyarrow", "pyarrow.ipc", "pandas.testing"))
    try:
        table = arrow.Table.from_pandas(frame)
        sink = arrow.BufferOutputStream()
        with ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        data: bytes = sink.getvalue().to_pybytes()
        back = ipc.open_stream(data).read_all().to_pandas()
        testing.assert_frame_equal(
            frame, back, check_exact=True, check_index_type=True, check_column_type=True
        )
    except (AssertionError, TypeError, ValueError, KeyError, NotImplementedError, arrow.ArrowException):
        return None
    return data if [*map(_names_of, labels)] == [_names_of(back.columns), _names_of(back.index)] else None


def _names_of(index: Any) -> list[tuple[type, Any]]:
    return [(type(name), name) for name in index.names]


def _dtypes_of(index: Any) -> list[Any]:
    return [level.dtype for level in getattr(index, "levels", [index])]


def _columns_of(frame: Any) -> list[Any]:
    """List the names of the columns, the index, the values of each column, the attributes, any flag."""
    values = [_values_apart(frame.iloc[:, number].array) for number in range(frame.shape[1])]
    flags = [] if frame.flags.allows_duplicate_labels else [False]
    return [_index_apart(frame.columns), _index_apart(frame.index), values, dict(frame.attrs), *flags]


def _frame_of(
    columns: Any,
    index: Any,
    values: list[Any],
    attributes: dict[Any, Any],
    allows_duplicates: bool = True,
) -> Any:
    pandas = import_module("pandas")
    rows = _index(index)
    arrays = {number: _values(one) for number, one in enumerate(values)}
    # with the dtype, or pandas chooses one for objects
    held = {number: pandas.Series(one, rows, one.dtype) for number, one in arrays.items()}
    frame = pandas.DataFrame(held, rows)
    frame.columns = _index(columns)
    frame.attrs = attributes
    frame.flags.allows_duplicate_labels = allows_duplicates
    return frame


def _series_apart(series: Any) -> list[Any]:
    return [series.name, _frame_apart(series.to_frame(0))]


def _series_content(series: Any) -> list[Any]:
    return [series.name, _columns_of(series.to_frame(0))]


def _series(stored: list[Any]) -> Any:
    name, frame = stored
    series = _frame(frame).iloc[:, 0]
    series.name = name
    return series


def _values_apart(array: Any) -> Any:
    """Take the values of a column or index apart; those of dtypes of pandas are listed one by one."""
    pandas, numpy = import_module("pandas"), import_module("numpy")
    if isinstance(array.dtype, numpy.dtype):
        return numpy.asarray(array)
    if isinstance(array.dtype, pandas.CategoricalDtype):
        return [numpy.asarray(array.codes), _index_apart(array.categories), array.ordered]
    name: Any = str(array.dtype)
    if isinstance(array.dtype, pandas.DatetimeTZDtype):
        return [name, array.asi8]
    if not _is_made_of(name, array.dtype):
        name = _dtype_apart(array)
    if isinstance(array.dtype, pandas.ArrowDtype) and name == _ARROW:
        return [name, _arrow_values(array)]
    return [name, numpy.asarray(array.astype(object), object).tolist()]


def _is_made_of(name: str, dtype: Any) -> bool:
    try:
        made = import_module("pandas").array([], name).dtype
    except (TypeError, ValueError):
        return False
    return made == dtype and repr(made) == repr(dtype)  # strings of all storages are equal


def _dtype_apart(array: Any) -> Any:
    """Take a dtype apart that cannot be made of its name: of strings, or a nested one of Arrow."""
    pandas, dtype = import_module("pandas"), array.dtype
    if isinstance(dtype, pandas.StringDtype):
        return [_STRING, dtype.storage, dtype.na_value is pandas.NA]
    if isinstance(dtype, pandas.ArrowDtype):
        return _ARROW
    why = f"its dtype {dtype!r} cannot be made of its name"
    raise Refused(not_storable(type(array), why, "convert the column to another dtype"))


def _arrow_values(array: Any) -> bytes:
    arrow, ipc = import_module("pyarrow"), import_module("pyarrow.ipc")
    table, sink = arrow.table({"": array.__arrow_array__()}).combine_chunks(), arrow.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _values(stored: Any) -> Any:
    pandas = import_module("pandas")
    if not isinstance(stored, list):
        return stored
    if len(stored) == 3:
        codes, categories, is_ordered = stored
        return pandas.Categorical.from_codes(codes, _index(categories), is_ordered)
    name, items = stored
    if isinstance(name, list):
        _, storage, is_na = name
        missing = pandas.NA if is_na else float("nan")
        return pandas.array(items, pandas.StringDtype(storage, missing))
    if name == _ARROW:
        table = import_module("pyarrow.ipc").open_stream(items).read_all()
        return pandas.arrays.ArrowExtensionArray(table.column(0))
    if not isinstance(items, list):  # moments in UTC
        dtype = pandas.api.types.pandas_dtype(name)
        return pandas.DatetimeIndex(items.view(f"M8[{dtype.unit}]"), tz="UTC").tz_convert(dtype.tz).array
    return pandas.array(items, name)


def _index_apart(index: Any) -> list[Any]:
    pandas = import_module("pandas")
    if isinstance(index, pandas.RangeIndex):
        return ["range", index.start, index.stop, index.step, index.name]
    if isinstance(index, pandas.MultiIndex):
        levels, codes = [*map(_index_apart, index.levels)], [list(map(int, one)) for one in index.codes]
        return ["multi", levels, codes, list(index.names)]
    return ["values", _values_apart(index.array), index.name, _frequency_of(index)]


def _frequency_of(index: Any) -> str | None:
    """Return the name of the frequency of an index; raises Refused if its name does not say all."""
    frequency = getattr(index, "freq", None)
    if frequency is None or isinstance(index, import_module("pandas").PeriodIndex):
        return None  # that of periods is in their dtype
    name: str = index.freqstr
    if import_module("pandas.tseries.frequencies").to_offset(name) != frequency:
        why = f"its frequency {frequency!r} cannot be made of its name {name!r}"
        raise Refused(not_storable(type(index), why, "set `freq` of the index to None"))
    return name


def _index(stored: list[Any]) -> Any:
    pandas = import_module("pandas")
    form, *parts = stored
    if form == "range":
        return pandas.RangeIndex(*parts[:3], name=parts[3])
    if form == "multi":
        levels, codes, names = parts
        return pandas.MultiIndex([*map(_index, levels)], codes, names=names)
    values, name, frequency = parts
    array = _values(values)
    index = pandas.Index(array, dtype=array.dtype, name=name)
    if frequency is not None and not isinstance(index, pandas.PeriodIndex):
        index.freq = frequency
    return index


def _moment_apart(moment: Any) -> list[Any]:
    """Take a moment apart: its count in UTC, which no datetime might hold, its unit, and its zone."""
    zone = None if moment.tz is None else datetime(2000, 1, 1, tzinfo=moment.tz)
    return [int(moment.asm8.view("i8")), moment.unit, zone]


def _moment(stored: list[Any]) -> Any:
    pandas = import_module("pandas")
    count, second, third = stored
    if isinstance(count, datetime):  # written before 0.1.0: a datetime, its nanosecond and its unit
        made = pandas.Timestamp(count).as_unit(third)
        return made.replace(nanosecond=second) if second else made
    made = pandas.Timestamp(import_module("numpy").datetime64(count, second))
    return made if third is None else made.tz_localize("UTC").tz_convert(third.tzinfo)


def _span_apart(span: Any) -> list[Any]:
    return [int(span.asm8.view("i8")), span.unit]


def _span(stored: list[Any]) -> Any:
    return import_module("pandas").Timedelta(import_module("numpy").timedelta64(*stored))


def _period(stored: list[Any]) -> Any:
    ordinal, frequency = stored
    return import_module("pandas").Period(ordinal=ordinal, freq=frequency)


def _interval_apart(interval: Any) -> list[Any]:
    return [interval.left, interval.right, interval.closed]


def _interval(stored: list[Any]) -> Any:
    return import_module("pandas").Interval(*stored)


def _frame_shown(frame: Any) -> Any:
    return frame.to_dict("split")


def _series_shown(series: Any) -> Any:
    return {"name": series.name, "index": series.index.tolist(), "data": series.tolist()}
