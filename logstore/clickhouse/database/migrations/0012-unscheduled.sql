{{- define "added up" -}}
    sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
    sum(r.lost) AS lost, sum(r.skipped) AS skipped, sum(r.missed) AS missed,
    succeeded + failed + timed_out + cancelled + lost + skipped + missed AS runs,
    round((failed + timed_out + lost) / greatest(succeeded + failed + timed_out + cancelled + lost, 1), 6) AS failure_ratio,
    succeeded + failed + timed_out + lost + missed - sum(r.unscheduled) AS scheduled,
    succeeded - sum(r.unscheduled_succeeded) AS scheduled_succeeded,
    round(if(scheduled > 0, scheduled_succeeded / scheduled, succeeded / greatest(succeeded + failed + timed_out + lost + missed, 1)), 6) AS success_rate,
    sum(r.attempts) AS attempts,
    round(sum(r.duration_sum_ms) / greatest(sum(r.begun), 1)) AS duration_mean_ms,
    max(r.duration_max_ms) AS duration_max_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.duration_q)) AS duration_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.committed_q)) AS committed_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.delivered_q)) AS delivered_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.started_q)) AS started_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.finished_q)) AS finished_after_ms
{{- end -}}
{{- define "sums" -}}
    sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(delivered),
    sum(unscheduled), sum(unscheduled_succeeded),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(delivered_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
{{- end -}}
{{- define "columns" -}}
    ADD COLUMN IF NOT EXISTS unscheduled SimpleAggregateFunction(sum, Int64) AFTER missed,
    ADD COLUMN IF NOT EXISTS unscheduled_succeeded SimpleAggregateFunction(sum, Int64) AFTER unscheduled
{{- end -}}
-- Success is judged by what a schedule asked for, so the rest of those fires that are judged is
-- counted. What was counted before counts as it did.
ALTER TABLE {{.Local "report_minute"}} {{.OnCluster}}
{{template "columns"}};

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}}
{{template "columns"}};

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}}
{{template "columns"}};

ALTER TABLE {{.Local "report_instance"}} {{.OnCluster}}
{{template "columns"}};

{{if .Sharded -}}
ALTER TABLE report_minute {{.OnCluster}}
{{template "columns"}};

ALTER TABLE report_hour {{.OnCluster}}
{{template "columns"}};

ALTER TABLE report_day {{.OnCluster}}
{{template "columns"}};

ALTER TABLE report_instance {{.OnCluster}}
{{template "columns"}};

{{end -}}
-- Days before hours, which feed them.
ALTER TABLE {{.Local "report_day_of_hours"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfDay(h.bucket) AS bucket, group, job, version,
    sum(h.succeeded) AS succeeded, sum(h.failed) AS failed, sum(h.timed_out) AS timed_out, sum(h.cancelled) AS cancelled, sum(h.lost) AS lost,
    sum(h.skipped) AS skipped, sum(h.missed) AS missed, sum(h.attempts) AS attempts, sum(h.begun) AS begun, sum(h.firsts) AS firsts, sum(h.delivered) AS delivered,
    sum(h.unscheduled) AS unscheduled, sum(h.unscheduled_succeeded) AS unscheduled_succeeded,
    sum(h.duration_sum_ms) AS duration_sum_ms, max(h.duration_max_ms) AS duration_max_ms,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.duration_q) AS duration_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.committed_q) AS committed_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.delivered_q) AS delivered_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.started_q) AS started_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.finished_q) AS finished_q
FROM {{.Local "report_hour"}} AS h
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_minute_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfMinute(fire_time) AS bucket, group,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}},
{{.UnscheduledColumns "run_status"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group;

ALTER TABLE {{.Local "report_hour_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT {{.HourPart "fire_time"}} AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}},
{{.UnscheduledColumns "run_status"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_instance_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT {{.HourPart "fire_time"}} AS bucket, group, instance,
{{.ReportColumns "status" "measured"}},
{{.DeliveredColumns "measured"}},
{{.UnscheduledColumns "status"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND instance != ''
GROUP BY bucket, group, instance;

-- A projection has the columns that it was made with: these take the place of those before,
-- under names of their own, as those go in the background.
ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} DROP PROJECTION IF EXISTS of_groups;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} DROP PROJECTION IF EXISTS of_jobs;

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} DROP PROJECTION IF EXISTS of_groups;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS per_group
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS per_group
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS per_job (SELECT * ORDER BY job, bucket);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION per_group;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION per_job;

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} MATERIALIZE PROJECTION per_group;

CREATE OR REPLACE VIEW v_minutes {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS minute, group, {{template "added up" .}}
FROM report_minute AS r
GROUP BY bucket, group;

CREATE OR REPLACE VIEW v_hours {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, job, version, {{template "added up" .}}
FROM report_hour AS r
GROUP BY hour, group, job, version;

CREATE OR REPLACE VIEW v_days {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS day, group, job, version, {{template "added up" .}}
FROM report_day AS r
GROUP BY bucket, group, job, version;

CREATE OR REPLACE VIEW v_instances {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, instance, {{template "added up" .}}
FROM report_instance AS r
GROUP BY hour, group, instance;
