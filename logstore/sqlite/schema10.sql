-- The same as report_hour, by group: a report that does not tell jobs apart reads few rows.
CREATE TABLE report_group (
  bucket       INTEGER NOT NULL,
  grp          TEXT    NOT NULL,
  succeeded    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  timed_out    INTEGER NOT NULL,
  cancelled    INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  missed       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL,
  begun        INTEGER NOT NULL,
  firsts       INTEGER NOT NULL,
  duration_sum INTEGER NOT NULL,
  duration_max INTEGER NOT NULL,
  durations    BLOB    NOT NULL,
  committed    BLOB    NOT NULL,
  started      BLOB    NOT NULL,
  finished     BLOB    NOT NULL,
  delivered    BLOB    NOT NULL,
  PRIMARY KEY (bucket, grp)
) WITHOUT ROWID;

INSERT INTO report_group
SELECT bucket, grp, sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(duration_sum), max(duration_max),
  CAST(group_concat(durations, '') AS BLOB),
  CAST(group_concat(committed, '') AS BLOB),
  CAST(group_concat(started, '') AS BLOB),
  CAST(group_concat(finished, '') AS BLOB),
  CAST(group_concat(delivered, '') AS BLOB)
FROM report_hour GROUP BY bucket, grp;
