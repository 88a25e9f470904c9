{{- define "added up" -}}
    sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
    sum(r.lost) AS lost, sum(r.skipped) AS skipped, sum(r.missed) AS missed,
    succeeded + failed + timed_out + cancelled + lost + skipped + missed AS runs,
    round((failed + timed_out + lost) / greatest(succeeded + failed + timed_out + cancelled + lost, 1), 6) AS failure_ratio,
    sum(r.attempts) AS attempts,
    round(sum(r.duration_sum_ms) / greatest(sum(r.begun), 1)) AS duration_mean_ms,
    max(r.duration_max_ms) AS duration_max_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.duration_q)) AS duration_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.committed_q)) AS committed_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.delivered_q)) AS delivered_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.started_q)) AS started_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.finished_q)) AS finished_after_ms
{{- end -}}
-- Hours are counted in parts from now on, so that the days of all time zones are made of whole
-- counts. Hours of former versions are one part.
ALTER TABLE {{.Local "report_hour_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT {{.HourPart "fire_time"}} AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_instance_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT {{.HourPart "fire_time"}} AS bucket, group, instance,
{{.ReportColumns "status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND instance != ''
GROUP BY bucket, group, instance;

CREATE OR REPLACE VIEW v_hours {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, job, version, {{template "added up" .}}
FROM report_hour AS r
GROUP BY hour, group, job, version;

CREATE OR REPLACE VIEW v_instances {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, instance, {{template "added up" .}}
FROM report_instance AS r
GROUP BY hour, group, instance;
