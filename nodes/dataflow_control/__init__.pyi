# The public names, and where each of them is; imported when it is first used.

from .approvals import Approval, Approved, approval
from .files import read_text, write_text
from .items import Filter, Sort, Unique, filter_list, sort_list, unique_list
from .listing import pack
from .lists import flatten_list, join_lists, numbers, slice_list
from .passthrough import Delay, Fail, FailedOnPurpose, Log, delay, fail, log
from .texts import join_text, parse_json, replace_text, split_lines, split_text, write_json
from .values import Compute, Fill, Given, expression, template, value

__all__ = [
    "Approval",
    "Approved",
    "Compute",
    "Delay",
    "Fail",
    "FailedOnPurpose",
    "Fill",
    "Filter",
    "Given",
    "Log",
    "Sort",
    "Unique",
    "approval",
    "delay",
    "expression",
    "fail",
    "filter_list",
    "flatten_list",
    "join_lists",
    "join_text",
    "log",
    "numbers",
    "pack",
    "parse_json",
    "read_text",
    "replace_text",
    "slice_list",
    "sort_list",
    "split_lines",
    "split_text",
    "template",
    "unique_list",
    "value",
    "write_json",
    "write_text",
]
