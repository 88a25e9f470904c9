-- A file of log lines: those of one day's runs in one class of retention. A job has a
-- number here of its own.
CREATE TABLE jobs (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  lines      INTEGER NOT NULL DEFAULT 0,
  written_at INTEGER NOT NULL DEFAULT 0  -- the last of them
);

CREATE TABLE log_chunks (
  id        INTEGER PRIMARY KEY,
  run_id    BLOB    NOT NULL,
  attempt   INTEGER NOT NULL,
  piece     INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  job       INTEGER NOT NULL,
  data      BLOB    NOT NULL,
  UNIQUE (run_id, attempt, piece, first_seq, last_seq)
);

-- Which chunks have a word. What else a search asks for is looked up in these: an index
-- of the lines themselves takes several times the room that the lines do.
CREATE VIRTUAL TABLE chunk_words USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = 'ascii');

PRAGMA user_version = 1;
