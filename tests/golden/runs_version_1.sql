-- A store as version 1 writes it. Never change this file: later releases read what it makes (S20).
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
INSERT INTO "blobs" VALUES('3593f87b3ed8cc5d227bf3cb02dda0eca4d5b0f155e60601daed26f9acb14081',X'61206C6F6E672074657874');
CREATE TABLE held_blobs (run TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run, sha256)) WITHOUT ROWID;
INSERT INTO "held_blobs" VALUES('20260101T123000Z-0123abcd','3593f87b3ed8cc5d227bf3cb02dda0eca4d5b0f155e60601daed26f9acb14081');
CREATE TABLE inbox (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, ask TEXT NOT NULL, value TEXT NOT NULL, by TEXT NOT NULL,
    UNIQUE (run, ask)
);
INSERT INTO "inbox" VALUES(1,'20260101T123000Z-0123abcd','p/ask','{"value":"yes"}','Ada');
CREATE TABLE memo (fingerprint TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE records (
    run TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);
INSERT INTO "records" VALUES('20260101T123000Z-0123abcd',1,'run_started','','{"number":1}');
INSERT INTO "records" VALUES('20260101T123000Z-0123abcd',2,'ask_opened','p/ask','{"number":2}');
INSERT INTO "records" VALUES('20260101T123000Z-0123abcd',3,'node_started',X'68616C6620EDA0BD','{}');
CREATE TABLE runs (
    id TEXT PRIMARY KEY, flow TEXT NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "runs" VALUES('20260101T123000Z-0123abcd','greet','greet.py:flow','paused','2026-01-01T12:30:00.000250+00:00','2026-11-28T11:27:44.277994+00:00');
INSERT INTO "runs" VALUES('20260102T123000Z-4567cdef','greet','greet.py:flow','completed','2026-01-02T12:30:00.000250+00:00','2026-01-02T12:30:00.000250+00:00');
CREATE TABLE schedules (id TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE INDEX asks ON records (run, path, seq) WHERE kind IN ('ask_opened', 'ask_answered', 'ask_closed');
CREATE INDEX holders ON held_blobs (sha256);
COMMIT;
