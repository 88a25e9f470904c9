-- What changes in attempts that have ended, with what it was before, in the order in
-- which it came, until it is counted in the reports: see ended.go.
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
  committed_at INTEGER NOT NULL,
  started_at   INTEGER NOT NULL,
  finished_at  INTEGER NOT NULL,
  measured     INTEGER NOT NULL -- 1: the times count from this change on
);

CREATE TRIGGER ended_at_once AFTER INSERT ON runs WHEN NEW.status >= 10 BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, 0, 0, 0, '',
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at), NEW.started_at <> 0
  );
END;

CREATE TRIGGER ended_later AFTER UPDATE ON runs WHEN NEW.status >= 10 AND (
  OLD.status <> NEW.status OR OLD.state <> NEW.state OR OLD.count <> NEW.count OR OLD.instance <> NEW.instance OR (OLD.started_at = 0 AND NEW.started_at <> 0)
) BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, OLD.state, OLD.status, OLD.count, OLD.instance,
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at),
    NEW.started_at <> 0 AND NOT (OLD.status >= 10 AND OLD.started_at <> 0)
  );
END;
