"""Digests of values."""

from __future__ import annotations

from hashlib import blake2b


class NoDigest(Exception):
    pass


def digest(value):
    if type(value) is object:
        raise NoDigest
    t = repr((type(value), value)).encode()
    return t if len(t) < 32 else blake2b(t).digest()
