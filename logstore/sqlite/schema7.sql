-- When an attempt's trigger was delivered to the instance that began it. Last, so that a
-- large history need not be written anew.
ALTER TABLE runs ADD COLUMN delivered_at INTEGER DEFAULT 0;
ALTER TABLE pieces ADD COLUMN delivered_at INTEGER DEFAULT 0;
ALTER TABLE ended ADD COLUMN delivered_at INTEGER NOT NULL DEFAULT 0;

ALTER TABLE report_minute ADD COLUMN delivered BLOB NOT NULL DEFAULT x'';
ALTER TABLE report_hour ADD COLUMN delivered BLOB NOT NULL DEFAULT x'';
ALTER TABLE report_day ADD COLUMN delivered BLOB NOT NULL DEFAULT x'';
ALTER TABLE report_instance ADD COLUMN delivered BLOB NOT NULL DEFAULT x'';

DROP TRIGGER ended_at_once;
DROP TRIGGER ended_later;

CREATE TRIGGER ended_at_once AFTER INSERT ON runs WHEN NEW.status >= 10 BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, 0, 0, 0, '',
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at), NEW.started_at <> 0, NEW.delivered_at
  );
END;

CREATE TRIGGER ended_later AFTER UPDATE ON runs WHEN NEW.status >= 10 AND (
  OLD.status <> NEW.status OR OLD.state <> NEW.state OR OLD.count <> NEW.count OR OLD.instance <> NEW.instance OR (OLD.started_at = 0 AND NEW.started_at <> 0)
) BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, OLD.state, OLD.status, OLD.count, OLD.instance,
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at),
    NEW.started_at <> 0 AND NOT (OLD.status >= 10 AND OLD.started_at <> 0), NEW.delivered_at
  );
END;
