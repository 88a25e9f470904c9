CREATE TABLE jobs (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- The long columns are last, so that lists need not read past the short ones.
CREATE TABLE runs (
  run_id       BLOB    NOT NULL,
  attempt      INTEGER NOT NULL,
  job          INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  cause        INTEGER NOT NULL,
  committed_at INTEGER NOT NULL DEFAULT 0,
  started_at   INTEGER NOT NULL DEFAULT 0,
  finished_at  INTEGER NOT NULL DEFAULT 0,
  delivery     INTEGER NOT NULL DEFAULT 0,
  log_lines    INTEGER NOT NULL DEFAULT 0,
  exit_code    INTEGER,
  until        INTEGER NOT NULL DEFAULT 0,
  count        INTEGER NOT NULL DEFAULT 1,
  progress_at  INTEGER NOT NULL DEFAULT 0,
  percent      REAL    NOT NULL DEFAULT 0,
  instance     TEXT    NOT NULL DEFAULT '',
  made_by      TEXT    NOT NULL DEFAULT '',
  reason       TEXT    NOT NULL DEFAULT '',
  text         TEXT    NOT NULL DEFAULT '',
  message      TEXT    NOT NULL DEFAULT '',
  result       TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, attempt)
) WITHOUT ROWID;

CREATE INDEX runs_by_job ON runs (job, run_id, attempt);

-- Everything but success (10): what is in flight and what went wrong is rare, and
-- is what people look for.
CREATE INDEX runs_by_status ON runs (status, run_id, attempt) WHERE status <> 10;

CREATE TABLE changes (
  run_id   BLOB    NOT NULL,
  attempt  INTEGER NOT NULL,
  kind     INTEGER NOT NULL,
  slot     INTEGER NOT NULL, -- tells changes of one kind apart, and repeats not
  at       INTEGER NOT NULL,
  status   INTEGER NOT NULL,
  instance TEXT    NOT NULL,
  delivery INTEGER NOT NULL,
  percent  REAL    NOT NULL,
  detail   TEXT    NOT NULL,
  PRIMARY KEY (run_id, attempt, kind, slot)
) WITHOUT ROWID;

-- id is the order of writing: of a line that arrived twice, the first stays.
CREATE TABLE log_chunks (
  id        INTEGER PRIMARY KEY,
  run_id    BLOB    NOT NULL,
  attempt   INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  job       INTEGER NOT NULL,
  data      BLOB    NOT NULL,
  UNIQUE (run_id, attempt, first_seq, last_seq)
);
