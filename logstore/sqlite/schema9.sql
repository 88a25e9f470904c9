-- Delays are counted of what a schedule asked for (causes 1 and 2), so the notes have the
-- cause. Those that wait to be counted have none, and count as they did.
ALTER TABLE ended ADD COLUMN cause INTEGER NOT NULL DEFAULT 1;

DROP TRIGGER ended_at_once;
DROP TRIGGER ended_later;

CREATE TRIGGER ended_at_once AFTER INSERT ON runs WHEN NEW.status >= 10 BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, 0, 0, 0, '',
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at), NEW.started_at <> 0, NEW.delivered_at, NEW.cause
  );
END;

CREATE TRIGGER ended_later AFTER UPDATE ON runs WHEN NEW.status >= 10 AND (
  OLD.status <> NEW.status OR OLD.state <> NEW.state OR OLD.count <> NEW.count OR OLD.instance <> NEW.instance OR (OLD.started_at = 0 AND NEW.started_at <> 0)
) BEGIN
  INSERT INTO ended VALUES (
    NULL, NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance, OLD.state, OLD.status, OLD.count, OLD.instance,
    NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at),
    NEW.started_at <> 0 AND NOT (OLD.status >= 10 AND OLD.started_at <> 0), NEW.delivered_at, NEW.cause
  );
END;
