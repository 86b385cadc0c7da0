"""Type annotations: their structure, compatibility, and the validation of values against them."""

from __future__ import annotations
