"""The tables of a store in SQLite (S20): what version 1 has written, every later release reads."""

from __future__ import annotations

from typing import Final

__all__ = ["SCHEMA", "VERSION"]

VERSION: Final = 1

# `held_blobs` says which run brought a blob, so that deleting a run deletes those that no other run has.
# Times are in UTC as ISO 8601 with microseconds, so that they sort as texts. `data` is JSON, but for blobs.
SCHEMA: Final = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, flow TEXT NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    run TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE INDEX asks ON records (run, path, seq) WHERE kind IN ('ask_opened', 'ask_answered', 'ask_closed');
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE held_blobs (run TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run, sha256)) WITHOUT ROWID;
CREATE INDEX holders ON held_blobs (sha256);
CREATE TABLE inbox (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, ask TEXT NOT NULL, value TEXT NOT NULL, by TEXT NOT NULL,
    UNIQUE (run, ask)
);
CREATE TABLE memo (fingerprint TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE schedules (id TEXT PRIMARY KEY, data TEXT NOT NULL)
"""
