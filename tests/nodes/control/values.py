"""Values that JSON can carry, and how they are told apart."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def typed(value: Any) -> Any:
    """Tell 1, 1.0 and True apart, at any depth."""
    match value:
        case list():
            return [typed(item) for item in value]
        case dict():
            return {key: typed(item) for key, item in value.items()}
        case _:
            return type(value), value
