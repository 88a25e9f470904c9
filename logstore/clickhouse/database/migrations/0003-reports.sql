{{- define "counts" -}}
    succeeded       SimpleAggregateFunction(sum, Int64),
    failed          SimpleAggregateFunction(sum, Int64),
    timed_out       SimpleAggregateFunction(sum, Int64),
    cancelled       SimpleAggregateFunction(sum, Int64),
    lost            SimpleAggregateFunction(sum, Int64),
    skipped         SimpleAggregateFunction(sum, Int64),
    missed          SimpleAggregateFunction(sum, Int64),
    attempts        SimpleAggregateFunction(sum, Int64),                    -- that were executed
    begun           SimpleAggregateFunction(sum, UInt64),                   -- of these, that were begun, and so have a duration
    firsts          SimpleAggregateFunction(sum, UInt64),                   -- the first attempts among these
    duration_sum_ms SimpleAggregateFunction(sum, UInt64),
    duration_max_ms SimpleAggregateFunction(max, UInt64),
    duration_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    committed_q     AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    started_q       AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    finished_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1))
{{- end -}}
-- Reports are added up from the rows of runs as they come in. Counts take signs into
-- account; the times of an attempt are taken once, from the row that is marked for it.
-- Quantiles are of round(32 * log2(1 + ms)), a scale of one percent a step up to weeks:
-- read them through the views.
CREATE TABLE IF NOT EXISTS {{.Local "report_minute"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
{{template "counts"}}
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMMDD(bucket)
ORDER BY (bucket, group)
TTL bucket + INTERVAL 8 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Dedup}};

CREATE TABLE IF NOT EXISTS {{.Local "report_hour"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
{{template "counts"}}
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 100 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Dedup}};

CREATE TABLE IF NOT EXISTS {{.Local "report_day"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
{{template "counts"}}
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYear(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 1830 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Dedup}};

-- By hour and instance; the counts are of attempts.
CREATE TABLE IF NOT EXISTS {{.Local "report_instance"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    instance        LowCardinality(String),
{{template "counts"}}
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(bucket)
ORDER BY (bucket, group, instance)
TTL bucket + INTERVAL 100 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Dedup}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_minute_of_runs"}} {{.OnCluster}} TO {{.Local "report_minute"}} AS
SELECT toStartOfMinute(fire_time) AS bucket, group,
{{.ReportColumns "run_status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_hour_of_runs"}} {{.OnCluster}} TO {{.Local "report_hour"}} AS
SELECT toStartOfHour(fire_time) AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group, job, version;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_instance_of_runs"}} {{.OnCluster}} TO {{.Local "report_instance"}} AS
SELECT toStartOfHour(fire_time) AS bucket, group, instance,
{{.ReportColumns "status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND instance != ''
GROUP BY bucket, group, instance;

-- Days are added up from hours.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_day_of_hours"}} {{.OnCluster}} TO {{.Local "report_day"}} AS
SELECT toStartOfDay(h.bucket) AS bucket, group, job, version,
    sum(h.succeeded) AS succeeded, sum(h.failed) AS failed, sum(h.timed_out) AS timed_out, sum(h.cancelled) AS cancelled, sum(h.lost) AS lost,
    sum(h.skipped) AS skipped, sum(h.missed) AS missed, sum(h.attempts) AS attempts, sum(h.begun) AS begun, sum(h.firsts) AS firsts,
    sum(h.duration_sum_ms) AS duration_sum_ms, max(h.duration_max_ms) AS duration_max_ms,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.duration_q) AS duration_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.committed_q) AS committed_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.started_q) AS started_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.finished_q) AS finished_q
FROM {{.Local "report_hour"}} AS h
GROUP BY bucket, group, job, version;

{{.Distributed "report_minute" "sipHash64(group)"}}
{{.Distributed "report_hour" "sipHash64(group)"}}
{{.Distributed "report_day" "sipHash64(group)"}}
{{.Distributed "report_instance" "sipHash64(group)"}}
