-- Backfilled runs (cause 3) keep executors busy long after they fired: these are found by when
-- they were committed.
CREATE INDEX runs_backfilled ON runs (committed_at) WHERE cause = 3;
