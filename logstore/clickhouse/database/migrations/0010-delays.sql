-- Delays are counted of what a schedule asked for, from now on: of a backfill or a rerun, the
-- time since the fire says nothing about how late it was.
ALTER TABLE {{.Local "report_minute_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfMinute(fire_time) AS bucket, group,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group;

ALTER TABLE {{.Local "report_hour_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfHour(fire_time) AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_instance_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfHour(fire_time) AS bucket, group, instance,
{{.ReportColumns "status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND instance != ''
GROUP BY bucket, group, instance;
