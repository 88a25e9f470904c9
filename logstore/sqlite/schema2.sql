-- Runs get attempts, pieces, parents, and ends that a record tells. Tables are made
-- anew, as the long columns are to stay last and the keys change. No column of runs
-- is ever null where it has a default; to have that checked for each row is dear.
CREATE TABLE runs2 (
  run_id       BLOB    NOT NULL,
  attempt      INTEGER,
  job          INTEGER,
  version      INTEGER,
  status       INTEGER,
  state        INTEGER, -- what the run is, as this attempt tells; 0 once a newer one does
  cause        INTEGER,
  committed_at INTEGER DEFAULT 0,
  started_at   INTEGER DEFAULT 0,
  finished_at  INTEGER DEFAULT 0, -- of reported
  delivery     INTEGER DEFAULT 0,
  log_lines    INTEGER DEFAULT 0,
  exit_code    INTEGER,
  reported     INTEGER DEFAULT 0, -- the final status that an event told, or 0
  retry        INTEGER DEFAULT 0, -- 1: it also told that another attempt follows
  ruled        INTEGER DEFAULT 0, -- the final status that a record told, or 0
  ruled_at     INTEGER DEFAULT 0,
  until        INTEGER DEFAULT 0,
  count        INTEGER DEFAULT 1,
  total        INTEGER DEFAULT 0,
  progress_at  INTEGER DEFAULT 0,
  percent      REAL    DEFAULT 0,
  parent       BLOB,
  instance     TEXT    DEFAULT '',
  made_by      TEXT    DEFAULT '',
  reason_of    INTEGER DEFAULT 0, -- the status that has reason
  reason       TEXT    DEFAULT '', -- of the record before the end
  end_reason   TEXT    DEFAULT '', -- of ruled
  text         TEXT    DEFAULT '',
  message      TEXT    DEFAULT '',
  result       TEXT    DEFAULT '',
  PRIMARY KEY (run_id, attempt)
) WITHOUT ROWID;

INSERT INTO runs2 (
  run_id, attempt, job, version, status, state, cause, committed_at, started_at, finished_at, delivery, log_lines, exit_code,
  reported, ruled, ruled_at, until, count, progress_at, percent, instance, made_by, reason_of, reason, end_reason, text, message, result
) SELECT
  run_id, attempt, job, version, status, iif(attempt = max(attempt) OVER (PARTITION BY run_id), status, 0),
  cause, committed_at, started_at, finished_at, delivery, log_lines, exit_code,
  iif(status BETWEEN 10 AND 14, status, 0), iif(status > 14, status, 0), iif(status > 14, committed_at, 0),
  until, count, progress_at, percent, instance, made_by, iif(reason <> '' AND status < 15, 2, 0),
  iif(status > 14, '', reason), iif(status > 14, reason, ''), text, message, result
FROM runs ORDER BY run_id, attempt;
DROP TABLE runs;
ALTER TABLE runs2 RENAME TO runs;

CREATE INDEX runs_by_job ON runs (job, run_id, attempt);

-- Everything but success (10): what is in flight and what went wrong is rare, and
-- is what people look for.
CREATE INDEX runs_by_state ON runs (state, run_id, attempt) WHERE state <> 10 AND state <> 0;

CREATE INDEX runs_by_parent ON runs (parent, run_id, attempt) WHERE parent IS NOT NULL;

-- It tells at once that there are no further attempts, which is the rule.
CREATE INDEX runs_again ON runs (run_id, attempt) WHERE attempt > 1;

-- The pieces of attempts, in a table of their own: lists of runs need not pass over
-- them. The columns are those of runs.
CREATE TABLE pieces (
  run_id       BLOB    NOT NULL,
  piece        INTEGER,
  attempt      INTEGER,
  job          INTEGER,
  version      INTEGER,
  status       INTEGER,
  state        INTEGER,
  cause        INTEGER,
  committed_at INTEGER DEFAULT 0,
  started_at   INTEGER DEFAULT 0,
  finished_at  INTEGER DEFAULT 0,
  delivery     INTEGER DEFAULT 0,
  log_lines    INTEGER DEFAULT 0,
  exit_code    INTEGER,
  reported     INTEGER DEFAULT 0,
  retry        INTEGER DEFAULT 0,
  ruled        INTEGER DEFAULT 0,
  ruled_at     INTEGER DEFAULT 0,
  until        INTEGER DEFAULT 0,
  count        INTEGER DEFAULT 1,
  total        INTEGER DEFAULT 0,
  progress_at  INTEGER DEFAULT 0,
  percent      REAL    DEFAULT 0,
  parent       BLOB,
  instance     TEXT    DEFAULT '',
  made_by      TEXT    DEFAULT '',
  reason_of    INTEGER DEFAULT 0,
  reason       TEXT    DEFAULT '',
  end_reason   TEXT    DEFAULT '',
  text         TEXT    DEFAULT '',
  message      TEXT    DEFAULT '',
  result       TEXT    DEFAULT '',
  PRIMARY KEY (run_id, piece, attempt)
) WITHOUT ROWID;

CREATE TABLE changes2 (
  run_id   BLOB    NOT NULL,
  piece    INTEGER NOT NULL,
  attempt  INTEGER NOT NULL,
  kind     INTEGER NOT NULL,
  slot     INTEGER NOT NULL, -- tells changes of one kind apart, and repeats not
  at       INTEGER NOT NULL,
  status   INTEGER NOT NULL,
  instance TEXT    NOT NULL,
  delivery INTEGER NOT NULL,
  percent  REAL    NOT NULL,
  detail   TEXT    NOT NULL,
  PRIMARY KEY (run_id, piece, attempt, kind, slot)
) WITHOUT ROWID;
INSERT INTO changes2 SELECT run_id, 0, attempt, kind, slot, at, status, instance, delivery, percent, detail FROM changes ORDER BY run_id, attempt, kind, slot;
DROP TABLE changes;
ALTER TABLE changes2 RENAME TO changes;

CREATE TABLE log_chunks2 (
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
INSERT INTO log_chunks2 SELECT id, run_id, attempt, 0, first_seq, last_seq, job, data FROM log_chunks ORDER BY id;
DROP TABLE log_chunks;
ALTER TABLE log_chunks2 RENAME TO log_chunks;
