-- The file of runs, with what happened to them and the reports. Log lines have files of their own.

-- Tells one log store from another.
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity VALUES (lower(hex(randomblob(16))));

CREATE TABLE jobs (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- The attempts of runs. The long columns are last, so that lists need not read past the
-- short ones. No column is ever null where it has a default; to have that checked for each
-- row is dear.
CREATE TABLE runs (
  run_id       BLOB    NOT NULL,
  attempt      INTEGER,
  job          INTEGER,
  version      INTEGER,
  status       INTEGER,
  state        INTEGER, -- what the run is, as this attempt tells; 0 once a newer one does
  cause        INTEGER,
  queued_at    INTEGER DEFAULT 0, -- 0: it never waited before it was committed
  committed_at INTEGER DEFAULT 0,
  delivered_at INTEGER DEFAULT 0, -- to the instance that began the attempt
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
  step         TEXT    DEFAULT '',
  reason_of    INTEGER DEFAULT 0, -- the status that has reason
  reason       TEXT    DEFAULT '', -- of the record before the end
  end_reason   TEXT    DEFAULT '', -- of ruled
  text         TEXT    DEFAULT '',
  message      TEXT    DEFAULT '',
  result       TEXT    DEFAULT '',
  wait         TEXT    DEFAULT '', -- what a step waits for, as JSON
  hold         TEXT    DEFAULT '', -- who put a workflow's run on hold last, as JSON
  PRIMARY KEY (run_id, attempt)
) WITHOUT ROWID;

CREATE INDEX runs_by_job ON runs (job, run_id, attempt);

-- Everything but success (10): what is in flight and what went wrong is rare, and
-- is what people look for.
CREATE INDEX runs_by_state ON runs (state, run_id, attempt) WHERE state <> 10 AND state <> 0;

CREATE INDEX runs_by_parent ON runs (parent, run_id, attempt) WHERE parent IS NOT NULL;

-- It tells at once that there are no further attempts, which is the rule.
CREATE INDEX runs_again ON runs (run_id, attempt) WHERE attempt > 1;

-- Attempts that failed, timed out or were lost are few, and people ask why.
CREATE INDEX runs_failed ON runs (run_id, attempt) WHERE status IN (11, 12, 14);

-- Backfilled runs (cause 3) keep executors busy long after they fired: these are found by when
-- they were committed.
CREATE INDEX runs_backfilled ON runs (committed_at) WHERE cause = 3;

-- Tests of drafts (cause 9) are few, and searches of logs leave them out.
CREATE INDEX runs_tests ON runs (run_id) WHERE cause = 9;

-- Steps that wait are few, and are looked at every second.
CREATE INDEX runs_waits ON runs (wait ->> 'kind') WHERE wait <> '' AND status = 1;

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
  queued_at    INTEGER DEFAULT 0,
  committed_at INTEGER DEFAULT 0,
  delivered_at INTEGER DEFAULT 0,
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
  step         TEXT    DEFAULT '',
  reason_of    INTEGER DEFAULT 0,
  reason       TEXT    DEFAULT '',
  end_reason   TEXT    DEFAULT '',
  text         TEXT    DEFAULT '',
  message      TEXT    DEFAULT '',
  result       TEXT    DEFAULT '',
  wait         TEXT    DEFAULT '',
  hold         TEXT    DEFAULT '',
  PRIMARY KEY (run_id, piece, attempt)
) WITHOUT ROWID;

CREATE TABLE changes (
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

-- What happened beside runs: see logstore.Fact. In the order of lists.
CREATE TABLE facts (
  kind     TEXT    NOT NULL,
  at       INTEGER NOT NULL,
  id       TEXT    NOT NULL,
  revision INTEGER NOT NULL, -- of several versions the one with the greatest is here
  grp      TEXT    NOT NULL,
  who      TEXT    NOT NULL,
  what     TEXT    NOT NULL,
  object   TEXT    NOT NULL,
  state    TEXT    NOT NULL,
  doc      TEXT    NOT NULL,
  PRIMARY KEY (kind, at, id)
) WITHOUT ROWID;

-- What changes in attempts that have ended, with what it was before, in the order in
-- which it came, until it is counted in the reports: see ended.go. Tests and steps (causes 9 and 10) are not counted.
CREATE TABLE ended (
  seq          INTEGER PRIMARY KEY,
  run_id       BLOB    NOT NULL,
  attempt      INTEGER NOT NULL,
  job          INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  state        INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  count        INTEGER NOT NULL,
  instance     TEXT    NOT NULL,
  old_state    INTEGER NOT NULL,
  old_status   INTEGER NOT NULL,
  old_count    INTEGER NOT NULL,
  old_instance TEXT    NOT NULL,
  decided_at   INTEGER NOT NULL,
  started_at   INTEGER NOT NULL,
  finished_at  INTEGER NOT NULL,
  measured     INTEGER NOT NULL, -- 1: the times count from this change on
  delivered_at INTEGER NOT NULL,
  cause        INTEGER NOT NULL
);

CREATE TRIGGER ended_at_once AFTER INSERT ON runs WHEN NEW.status >= 10 AND NEW.cause < 9 BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, 0, 0, 0, '',
    iif(NEW.queued_at <> 0, NEW.queued_at, NEW.committed_at), NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at), NEW.started_at <> 0, NEW.delivered_at, NEW.cause
  );
END;

CREATE TRIGGER ended_later AFTER UPDATE ON runs WHEN NEW.status >= 10 AND NEW.cause < 9 AND (
  OLD.status <> NEW.status OR OLD.state <> NEW.state OR OLD.count <> NEW.count OR OLD.instance <> NEW.instance OR (OLD.started_at = 0 AND NEW.started_at <> 0)
) BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, OLD.state, OLD.status, OLD.count, OLD.instance,
    iif(NEW.queued_at <> 0, NEW.queued_at, NEW.committed_at), NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at),
    NEW.started_at <> 0 AND NOT (OLD.status >= 10 AND OLD.started_at <> 0), NEW.delivered_at, NEW.cause
  );
END;

-- What became of runs, added up by minute, hour and day, which begin at bucket, a Unix
-- second. The writer keeps them in the transaction that changes runs.
CREATE TABLE report_minute (
  bucket                INTEGER NOT NULL,
  grp                   TEXT    NOT NULL,
  succeeded             INTEGER NOT NULL,
  failed                INTEGER NOT NULL,
  timed_out             INTEGER NOT NULL,
  cancelled             INTEGER NOT NULL,
  lost                  INTEGER NOT NULL,
  skipped               INTEGER NOT NULL,
  missed                INTEGER NOT NULL,
  unscheduled           INTEGER NOT NULL, -- of those above that are judged: what no schedule asked for
  unscheduled_succeeded INTEGER NOT NULL,
  attempts              INTEGER NOT NULL, -- that were executed
  begun                 INTEGER NOT NULL, -- that were begun, and so have a duration
  firsts                INTEGER NOT NULL, -- the first attempts among these
  duration_sum          INTEGER NOT NULL, -- milliseconds
  duration_max          INTEGER NOT NULL,
  durations             BLOB    NOT NULL, -- spreads: see spread.go
  committed             BLOB    NOT NULL,
  started               BLOB    NOT NULL,
  finished              BLOB    NOT NULL,
  delivered             BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp)
) WITHOUT ROWID;

-- The same as report_hour, by group: a report that does not tell jobs apart reads few rows.
CREATE TABLE report_group (
  bucket                INTEGER NOT NULL,
  grp                   TEXT    NOT NULL,
  succeeded             INTEGER NOT NULL,
  failed                INTEGER NOT NULL,
  timed_out             INTEGER NOT NULL,
  cancelled             INTEGER NOT NULL,
  lost                  INTEGER NOT NULL,
  skipped               INTEGER NOT NULL,
  missed                INTEGER NOT NULL,
  unscheduled           INTEGER NOT NULL,
  unscheduled_succeeded INTEGER NOT NULL,
  attempts              INTEGER NOT NULL,
  begun                 INTEGER NOT NULL,
  firsts                INTEGER NOT NULL,
  duration_sum          INTEGER NOT NULL,
  duration_max          INTEGER NOT NULL,
  durations             BLOB    NOT NULL,
  committed             BLOB    NOT NULL,
  started               BLOB    NOT NULL,
  finished              BLOB    NOT NULL,
  delivered             BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp)
) WITHOUT ROWID;

CREATE TABLE report_hour (
  bucket                INTEGER NOT NULL,
  job                   INTEGER NOT NULL,
  version               INTEGER NOT NULL,
  grp                   TEXT    NOT NULL,
  succeeded             INTEGER NOT NULL,
  failed                INTEGER NOT NULL,
  timed_out             INTEGER NOT NULL,
  cancelled             INTEGER NOT NULL,
  lost                  INTEGER NOT NULL,
  skipped               INTEGER NOT NULL,
  missed                INTEGER NOT NULL,
  unscheduled           INTEGER NOT NULL,
  unscheduled_succeeded INTEGER NOT NULL,
  attempts              INTEGER NOT NULL,
  begun                 INTEGER NOT NULL,
  firsts                INTEGER NOT NULL,
  duration_sum          INTEGER NOT NULL,
  duration_max          INTEGER NOT NULL,
  durations             BLOB    NOT NULL,
  committed             BLOB    NOT NULL,
  started               BLOB    NOT NULL,
  finished              BLOB    NOT NULL,
  delivered             BLOB    NOT NULL,
  PRIMARY KEY (bucket, job, version)
) WITHOUT ROWID;

CREATE TABLE report_day (
  bucket                INTEGER NOT NULL,
  job                   INTEGER NOT NULL,
  version               INTEGER NOT NULL,
  grp                   TEXT    NOT NULL,
  succeeded             INTEGER NOT NULL,
  failed                INTEGER NOT NULL,
  timed_out             INTEGER NOT NULL,
  cancelled             INTEGER NOT NULL,
  lost                  INTEGER NOT NULL,
  skipped               INTEGER NOT NULL,
  missed                INTEGER NOT NULL,
  unscheduled           INTEGER NOT NULL,
  unscheduled_succeeded INTEGER NOT NULL,
  attempts              INTEGER NOT NULL,
  begun                 INTEGER NOT NULL,
  firsts                INTEGER NOT NULL,
  duration_sum          INTEGER NOT NULL,
  duration_max          INTEGER NOT NULL,
  durations             BLOB    NOT NULL,
  committed             BLOB    NOT NULL,
  started               BLOB    NOT NULL,
  finished              BLOB    NOT NULL,
  delivered             BLOB    NOT NULL,
  PRIMARY KEY (bucket, job, version)
) WITHOUT ROWID;

-- By hour; the counts are of attempts.
CREATE TABLE report_instance (
  bucket                INTEGER NOT NULL,
  grp                   TEXT    NOT NULL,
  instance              TEXT    NOT NULL,
  succeeded             INTEGER NOT NULL,
  failed                INTEGER NOT NULL,
  timed_out             INTEGER NOT NULL,
  cancelled             INTEGER NOT NULL,
  lost                  INTEGER NOT NULL,
  skipped               INTEGER NOT NULL,
  missed                INTEGER NOT NULL,
  unscheduled           INTEGER NOT NULL,
  unscheduled_succeeded INTEGER NOT NULL,
  attempts              INTEGER NOT NULL,
  begun                 INTEGER NOT NULL,
  firsts                INTEGER NOT NULL,
  duration_sum          INTEGER NOT NULL,
  duration_max          INTEGER NOT NULL,
  durations             BLOB    NOT NULL,
  committed             BLOB    NOT NULL,
  started               BLOB    NOT NULL,
  finished              BLOB    NOT NULL,
  delivered             BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp, instance)
) WITHOUT ROWID;
