{{- define "sums" -}}
    sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
{{- end -}}
-- Reports that do not tell jobs apart read rows of groups, and those of a few jobs find them
-- without a look at all others. ClickHouse keeps such projections with each part of a table,
-- through merges and repairs, and chooses them by itself.
ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS by_group
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS by_group
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS by_job (SELECT * ORDER BY job, bucket);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION by_group;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION by_job;

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} MATERIALIZE PROJECTION by_group;
