# ruff: noqa: E501 - a row is a line
"""F-C01, F-C14, F-C17, F-C21: values of NumPy, pandas, polars and Pillow are stored, compared and printed."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pandas.testing import assert_frame_equal, assert_index_equal, assert_series_equal
from PIL import Image
from polars.testing import assert_frame_equal as assert_polars_equal

from dataflow import Flow, RunFailed, Secret, Store, node
from dataflow.inspection.json_values import json_value
from dataflow.values import library_frames
from dataflow.values.classes import unstorable
from dataflow.values.digests import digest
from tests.support.read_back import read_back

CALLS: list[Any] = []
DAYS = pd.date_range("2024-01-01", periods=3)
ARRAYS = [
    np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(["a", "bé"]), np.zeros((0, 3)),
    np.array([1, "x", [1, 2]], dtype=object), np.array(3), np.array([1, 2], dtype=">i2"), np.array([b"ab"]),
    np.array([(1, [2.0, 3.0])], dtype=[("a", "i4"), ("b", "f8", (2,))]), np.array(["2024-01-01"], dtype="M8[ns]"),
    np.array([(("a", 1), ["b", "c"])], dtype=[("n", [("t", "U3"), ("i", "M8[ns]")]), ("s", "U2", (2,))]),
    np.array(["x", "yy"], dtype=np.dtypes.StringDType()), np.array([1j, 2]), np.arange(10_000),
]  # fmt: skip
SCALARS = [
    np.int64(3), np.float64(1.5), np.float32(1.5), np.bool_(True), np.str_("x"), np.bytes_(b"x"), np.complex64(1j),
    np.datetime64("2024-01-01"), np.timedelta64(3, "ns"), np.longdouble(1), np.dtype("f4"), pd.Period("2024-01", "M"),
    pd.Timestamp("2024-01-01 12:00:00.123456789"), pd.Timestamp("2024-01-01", tz="Europe/Berlin"),
    pd.Timestamp.min, pd.Timestamp.max, pd.Timestamp(np.datetime64("20000-01-01", "s")),
    pd.Timestamp(np.datetime64("-0044-03-15", "s")), pd.Timestamp("2024").as_unit("s"), pd.Timedelta(5, unit="ns"), pd.Interval(1, 2, closed="both"),
]  # fmt: skip
INDEXES: list[Any] = [
    pd.RangeIndex(3), pd.Index([1, 2, 5]), pd.Index(["a", "b", "c"], name="k"), DAYS, DAYS.tz_localize("Europe/Berlin"),
    pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["x", None]), pd.interval_range(0, 3),
    pd.period_range("2024-01", periods=3, freq="M"), pd.CategoricalIndex(["a", "b", "a"]),
    pd.Index([1, "a", None], dtype=object),
]  # fmt: skip
COLUMNS: dict[str, Any] = {
    "integers": [1, 2, 3],
    "gaps": [1.5, np.nan, 3],
    "texts": ["x", None, "zz"],
    "objects": pd.Series([1, "a", (1, 2)], dtype=object).array,
    "moments": DAYS.tz_localize("UTC"),
    "fixed": DAYS.tz_localize(dt.timezone(dt.timedelta(hours=2))),
    "categories": pd.Categorical(["a", "b", "a"], ordered=True),
    "nullable": pd.array([1, None, 3], dtype="Int64"),
    "strings": pd.array(["a", None, "c"], dtype="string"),
    "strings of Python": pd.array(["a", None, "c"], dtype="string[python]"),
    "strings with NaN": pd.array(["a", None, "c"], dtype=pd.StringDtype("python", np.nan)),
    "lists": pd.array([[1], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "periods": pd.period_range("2024-01", periods=3, freq="M"),
    "sparse": pd.arrays.SparseArray([0, 0, 1]),
    "arrow": pd.array([1, None, 2], dtype="int64[pyarrow]"),
    "decimals": pd.Series([Decimal("1.1")] * 3, dtype=object).array,
    "milliseconds": np.array(["2024-01-01"] * 3, dtype="M8[ms]"),
}
FRAMES = [
    *(pd.DataFrame({name: column}, index=index) for name, column in COLUMNS.items() for index in INDEXES[:2]),
    *(pd.DataFrame({"a": [1, 2, 3], "t": list("xyz")}, index=index) for index in INDEXES),
    pd.DataFrame(), pd.DataFrame(index=[1, 2]), pd.DataFrame([[1, 2]], columns=["a", "a"]),
    pd.DataFrame([[1, 2]], columns=[1, "x"]), pd.DataFrame([[1, 2]], columns=[3, 4]),
    pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
]  # fmt: skip
POLARS = pl.DataFrame(
    {
        "a": [1, None],
        "s": ["x", "y" * 20],
        "l": [[1], [2, 3]],
        "t": [dt.datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))] * 2,
        "d": [Decimal("1.10")] * 2,
        "c": pl.Series(["a", "b"], dtype=pl.Categorical),
        "e": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
    }
)


async def test_arrays_and_scalars_come_back(subtests: pytest.Subtests) -> None:
    for value in ARRAYS:
        with subtests.test(repr(value)):
            back = await read_back(value, np.ndarray)
            assert (back.dtype, back.shape, repr(back)) == (value.dtype, value.shape, repr(value))
            assert back.flags.writeable
            assert digest(back) == digest(value)
            json.dumps(json_value(value))
    for scalar in SCALARS:
        with subtests.test(repr(scalar)):
            back = await read_back(scalar)
            assert (type(back), back, getattr(back, "unit", 0)) == (
                type(scalar),
                scalar,
                getattr(scalar, "unit", 0),
            )
            assert digest(back) == digest(scalar)
    assert await read_back(pd.NaT) is pd.NaT
    assert await read_back(pd.NA) is pd.NA
    assert digest(np.arange(3)) != digest(np.arange(3.0)) != digest(np.arange(3).reshape(3, 1))


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    assert_frame_equal(one, other, check_exact=True, check_index_type=True, check_column_type=True)
    assert digest(one) == digest(other)


async def test_frames_of_pandas_come_back_in_both_forms(subtests: pytest.Subtests) -> None:
    by_arrow = 0
    for frame in FRAMES:
        with subtests.test(f"{frame.dtypes.to_dict()} {frame.index!r}"):
            same(await read_back(frame, pd.DataFrame), frame)
            same(library_frames._frame_of(*library_frames._columns_of(frame)), frame)
            by_arrow += library_frames._arrow(frame) is not None
            json.dumps(json_value(frame))
    assert by_arrow > 20
    for index in INDEXES:
        back = await read_back(index)
        assert_index_equal(back, index, exact=True)
        assert getattr(back, "freq", None) == getattr(index, "freq", None)
    series = FRAMES[2]["gaps"]
    assert_series_equal(await read_back(series, pd.Series), series, check_exact=True)
    told = pd.DataFrame({"a": [1]})
    told.attrs["unit"] = "m"
    assert (await read_back(told)).attrs == {"unit": "m"}
    for whole in (told, told["a"]):
        flagged = whole.set_flags(allows_duplicate_labels=False)
        assert not (await read_back(flagged)).flags.allows_duplicate_labels
        assert digest(flagged) != digest(whole)
    product = pd.DataFrame({"a": 1}, index=pd.MultiIndex.from_product([["x"], DAYS]))
    assert (await read_back(product)).index.levels[1].freq == DAYS.freq
    with pytest.raises(RunFailed, match="DF0620"):
        await read_back(pd.bdate_range("2024", periods=3, freq="C", holidays=["2024-01-01"]))
    assert json_value(told) == {"index": [0], "columns": ["a"], "data": [[1]]}


async def test_frames_of_polars_and_images_come_back(subtests: pytest.Subtests) -> None:
    assert_polars_equal(await read_back(POLARS, pl.DataFrame), POLARS)
    assert digest(await read_back(POLARS)) == digest(POLARS) != digest(POLARS.head(1))
    assert (await read_back(POLARS["s"])).to_list() == POLARS["s"].to_list()
    assert json_value(POLARS.select("a")) == {"columns": ["a"], "data": [[1], [None]]}
    for mode in ("RGB", "RGBA", "L", "1", "P", "LA", "I;16"):
        with subtests.test(mode):
            image = Image.new(mode, (3, 2))
            back = await read_back(image, Image.Image)
            assert (back.mode, back.size, back.tobytes()) == (image.mode, image.size, image.tobytes())
            assert digest(back) == digest(image)
    with pytest.raises(Exception) as failed:
        await read_back(Image.new("CMYK", (3, 2)))
    assert "DF0620" in str(failed.value)
    refused = [pl.LazyFrame, np.ma.MaskedArray[Any, Any]]
    assert [one.code for kind in refused if (one := unstorable(kind)) is not None] == ["DF0620", "DF0620"]


def written_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("*.db*") if file.is_file())


async def test_a_secret_in_a_frame_is_not_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRAME_KEY", "of-the-frame-1234")
    key = Secret("FRAME_KEY").reveal()
    values: list[Any] = [
        pd.DataFrame({"k": [key]}),
        pl.DataFrame({"k": [key]}),
        np.array([key]),
        np.array([((key, 1), [key])], dtype=[("n", [("t", "U20"), ("i", "i4")]), ("s", "U20", (1,))]),
        pd.Series([key], dtype=object),
    ]
    for number, value in enumerate(values):
        path = tmp_path / f"{number}.db"
        back = await read_back(value, store=Store.sqlite(path))
        assert key in str(back.to_numpy() if hasattr(back, "to_numpy") else back)
        assert not [code for code in ("utf-8", "utf-32-le") if key.encode(code) in written_in(tmp_path)]


async def test_numbers_of_numpy_are_numbers_where_a_port_wants_one() -> None:
    async def total(xs: list[int], scale: float, plus: int) -> int:
        assert [type(scale), type(plus)] == [float, int]
        return int(sum(xs) * scale) + plus

    async def ready(x: int) -> np.bool_:
        return np.bool_(x > 1)

    async def count(x: int) -> np.int64:
        return np.int64(x + 1)

    with Flow("numbers") as flow:
        xs = flow.input("xs", list[int])
        found = flow.add(total, xs=xs, scale=np.float32(2.0), plus=flow.input("plus", int))
        flow.output("yes", flow.when(found.out, lambda x: np.int64(x) > 3).yes)
        with flow.loop(limit=5) as loop:
            carried = loop.carry(0)
            counted = flow.add(count, x=carried.out)
            loop.until(flow.add(ready, x=counted.out).out, lambda done: done)
            carried.next(counted.out)
        flow.output("rounds", carried.final)
    result = await flow.run(xs=list(np.arange(3)), plus=np.int16(1))
    assert (result["yes"], result["rounds"]) == (7, 1)


@node(memo="process")
async def size(values: Any) -> int:
    CALLS.append(values)
    return len(values)


async def test_a_memo_knows_arrays_and_frames() -> None:
    CALLS.clear()
    with Flow("sizes") as flow:
        flow.output("out", flow.add(size, values=flow.input("values", object)).out)
    frame = {"a": [1, 2]}
    makes: list[Callable[[], object]] = [
        lambda: np.arange(3), lambda: pd.DataFrame(frame), lambda: pl.DataFrame(frame)
    ]  # fmt: skip
    for make in makes:
        results = [await flow.run(values=make()) for _ in range(2)]
        assert [result.warnings for result in results] == [(), ()]
    assert len(CALLS) == 3


FLOW: Final = """
import numpy as np
from dataflow import Flow

async def count(n: int) -> int:
    return np.int64(n)

async def mean(n: int) -> float:
    return np.arange(n).mean()

with Flow("numbers") as flow:
    flow.output("count", flow.add(count, n=3).out)
    flow.output("mean", flow.add(mean, n=3).out)
"""


def printed(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "dataflow", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_command_line_prints_numbers_as_numbers(tmp_path: Path) -> None:
    (tmp_path / "numbers_flow.py").write_text(FLOW)
    for options in (["--no-store"], ["--store", "runs.db"]):
        found = json.loads(printed(tmp_path, "run", "numbers_flow.py", "--json", *options))
        assert found["outputs"] == {"count": 3, "mean": 1.0}
    assert printed(tmp_path, "run", "numbers_flow.py") == "count: 3\nmean: 1.0\n"
    shown = printed(tmp_path, "runs", "show", found["run"], "count", "--json", "--store", "runs.db")
    assert json.loads(shown)["outputs"]["out"] == {"value": 3}
