-- What became of runs, added up by minute, hour and day, which begin at bucket, a Unix
-- second. The writer keeps them in the transaction that changes runs.
CREATE TABLE report_minute (
  bucket       INTEGER NOT NULL,
  grp          TEXT    NOT NULL,
  succeeded    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  timed_out    INTEGER NOT NULL,
  cancelled    INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  missed       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL, -- that were executed
  begun        INTEGER NOT NULL, -- that were begun, and so have a duration
  firsts       INTEGER NOT NULL, -- the first attempts among these
  duration_sum INTEGER NOT NULL, -- milliseconds
  duration_max INTEGER NOT NULL,
  durations    BLOB    NOT NULL, -- spreads: see spread.go
  committed    BLOB    NOT NULL,
  started      BLOB    NOT NULL,
  finished     BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp)
) WITHOUT ROWID;

CREATE TABLE report_hour (
  bucket       INTEGER NOT NULL,
  job          INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  grp          TEXT    NOT NULL,
  succeeded    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  timed_out    INTEGER NOT NULL,
  cancelled    INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  missed       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL, -- that were executed
  begun        INTEGER NOT NULL, -- that were begun, and so have a duration
  firsts       INTEGER NOT NULL, -- the first attempts among these
  duration_sum INTEGER NOT NULL, -- milliseconds
  duration_max INTEGER NOT NULL,
  durations    BLOB    NOT NULL, -- spreads: see spread.go
  committed    BLOB    NOT NULL,
  started      BLOB    NOT NULL,
  finished     BLOB    NOT NULL,
  PRIMARY KEY (bucket, job, version)
) WITHOUT ROWID;

CREATE TABLE report_day (
  bucket       INTEGER NOT NULL,
  job          INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  grp          TEXT    NOT NULL,
  succeeded    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  timed_out    INTEGER NOT NULL,
  cancelled    INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  missed       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL, -- that were executed
  begun        INTEGER NOT NULL, -- that were begun, and so have a duration
  firsts       INTEGER NOT NULL, -- the first attempts among these
  duration_sum INTEGER NOT NULL, -- milliseconds
  duration_max INTEGER NOT NULL,
  durations    BLOB    NOT NULL, -- spreads: see spread.go
  committed    BLOB    NOT NULL,
  started      BLOB    NOT NULL,
  finished     BLOB    NOT NULL,
  PRIMARY KEY (bucket, job, version)
) WITHOUT ROWID;

-- By hour; the counts are of attempts.
CREATE TABLE report_instance (
  bucket       INTEGER NOT NULL,
  grp          TEXT    NOT NULL,
  instance     TEXT    NOT NULL,
  succeeded    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  timed_out    INTEGER NOT NULL,
  cancelled    INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  missed       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL, -- that were executed
  begun        INTEGER NOT NULL, -- that were begun, and so have a duration
  firsts       INTEGER NOT NULL, -- the first attempts among these
  duration_sum INTEGER NOT NULL, -- milliseconds
  duration_max INTEGER NOT NULL,
  durations    BLOB    NOT NULL, -- spreads: see spread.go
  committed    BLOB    NOT NULL,
  started      BLOB    NOT NULL,
  finished     BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp, instance)
) WITHOUT ROWID;

-- Attempts that failed, timed out or were lost are few, and people ask why.
CREATE INDEX runs_failed ON runs (run_id, attempt) WHERE status IN (11, 12, 14);
