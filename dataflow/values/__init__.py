"""The codec of values: what a store keeps of them, and how the same values come back (S12.3)."""

from __future__ import annotations

from dataflow.values.classes import Classes, classes_of
from dataflow.values.leaves import Json
from dataflow.values.reading import Reader
from dataflow.values.unstorable import unstorable
from dataflow.values.writing import Writer

__all__ = ["Classes", "Json", "Reader", "Writer", "classes_of", "unstorable"]
