{{- define "counts" -}}
    succeeded       SimpleAggregateFunction(sum, Int64),
    failed          SimpleAggregateFunction(sum, Int64),
    timed_out       SimpleAggregateFunction(sum, Int64),
    cancelled       SimpleAggregateFunction(sum, Int64),
    lost            SimpleAggregateFunction(sum, Int64),
    skipped         SimpleAggregateFunction(sum, Int64),
    missed          SimpleAggregateFunction(sum, Int64),
    unscheduled     SimpleAggregateFunction(sum, Int64),                    -- of those that are judged: what no schedule asked for
    unscheduled_succeeded SimpleAggregateFunction(sum, Int64),
    attempts        SimpleAggregateFunction(sum, Int64),                    -- that were executed
    begun           SimpleAggregateFunction(sum, UInt64),                   -- of these, that were begun, and so have a duration
    firsts          SimpleAggregateFunction(sum, UInt64),                   -- the first attempts among these
    delivered       SimpleAggregateFunction(sum, UInt64),                   -- of these, whose delivery is known
    duration_sum_ms SimpleAggregateFunction(sum, UInt64),
    duration_max_ms SimpleAggregateFunction(max, UInt64),
    duration_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    committed_q     AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    delivered_q     AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    started_q       AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    finished_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1))
{{- end -}}
{{- define "sums" -}}
    sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(delivered),
    sum(unscheduled), sum(unscheduled_succeeded),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(delivered_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
{{- end -}}
{{- define "run" -}}
    run_id, job, group, version, attempt, cause, fire_time,
    nullIf(queued_at, toDateTime64(0, 3, 'UTC')) AS queued_at,
    nullIf(committed_at, toDateTime64(0, 3, 'UTC')) AS committed_at,
    nullIf(delivered_at, toDateTime64(0, 3, 'UTC')) AS delivered_at,
    nullIf(started_at, toDateTime64(0, 3, 'UTC')) AS started_at,
    nullIf(finished_at, toDateTime64(0, 3, 'UTC')) AS finished_at,
    nullIf(lateness_ms, -1) AS lateness_ms,
    nullIf(duration_ms, -1) AS duration_ms,
    instance, toBool(startsWith(CAST(instance, 'String'), 'host:')) AS reported, delivery, exit_code, message,
    if(end_reason != '', end_reason, reason) AS reason,
    made_by, result, log_lines, count,
    nullIf(until, toDateTime64(0, 3, 'UTC')) AS until,
    nullIf(parent_run_id, toUUID('00000000-0000-0000-0000-000000000000')) AS parent_run_id, step, wait
{{- end -}}
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
{{- define "fact columns" -}}
    kind            LowCardinality(String),
    at              DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id              String CODEC(ZSTD(1)),
    revision        Int64 CODEC(ZSTD(1)),                                   -- of several versions the one with the greatest stays
    group           LowCardinality(String),
    who             LowCardinality(String),
    what            LowCardinality(String),
    object          String CODEC(ZSTD(1)),
    state           LowCardinality(String),
    doc             String CODEC(ZSTD(3))
{{- end -}}
-- Attempts of runs, and the pieces of those that are done in pieces. A change adds two
-- rows: one takes back the row that was (sign -1), the other holds what is now (sign 1,
-- the next revision). So sums over sign are exact at any moment, whatever was merged, and
-- no query needs FINAL; and a view that adds up what comes in stays exact, too.
CREATE TABLE IF NOT EXISTS {{.Local "runs"}} {{.OnCluster}}
(
    run_id          UUID,                                                   -- UUIDv7, whose time is fire_time
    broadcast_index Int32 DEFAULT -1 CODEC(ZSTD(1)),                        -- of a piece; -1 is the attempt as a whole
    broadcast_total UInt32 DEFAULT 0 CODEC(ZSTD(1)),                        -- 0 when it is not done in pieces
    attempt         UInt32 CODEC(ZSTD(1)),
    group           LowCardinality(String),                                 -- executor group
    job             LowCardinality(String),                                 -- group/name
    version         UInt32 CODEC(ZSTD(1)),                                  -- of the job
    status          Enum8({{.Statuses}}),                                   -- of the attempt
    run_status      Enum8('' = 0, {{.Statuses}}),                           -- of the run, as this attempt tells; '' once a newer one does
    cause           Enum8({{.Causes}}),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    queued_at       DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),          -- of all instants, 0 is never
    committed_at    DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    delivered_at    DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)), -- to the instance that began the attempt, if its executor tells
    started_at      DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    finished_at     DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    instance        LowCardinality(String) DEFAULT '',
    delivery        UInt32 DEFAULT 0 CODEC(ZSTD(1)),
    exit_code       Nullable(Int32) CODEC(ZSTD(1)),
    message         String DEFAULT '' CODEC(ZSTD(1)),
    reason          String DEFAULT '' CODEC(ZSTD(1)),                       -- of the record before the end
    end_reason      String DEFAULT '' CODEC(ZSTD(1)),                       -- of the record that ended it
    made_by         String DEFAULT '' CODEC(ZSTD(1)),
    step            LowCardinality(String) DEFAULT '',                      -- of the workflow whose run is parent_run_id
    wait            String DEFAULT '' CODEC(ZSTD(1)),                       -- JSON, of a step that waits
    hold            String DEFAULT '' CODEC(ZSTD(1)),                       -- JSON, of a workflow's run that somebody put on hold
    result          String DEFAULT '' CODEC(ZSTD(1)),                       -- JSON
    log_lines       UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)),
    count           UInt64 DEFAULT 1 CODEC(T64, ZSTD(1)),                   -- fires that share this fate
    until           DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),          -- the last of them
    parent_run_id   UUID DEFAULT toUUID('00000000-0000-0000-0000-000000000000') CODEC(ZSTD(1)),

    -- How it came to be so, from which it follows what a further update changes.
    reported        Enum8('' = 0, {{.Statuses}}) DEFAULT '',                -- the end that an event told
    reported_at     DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),          -- 0 when it is finished_at
    retry           Bool DEFAULT false,                                     -- it also told that another attempt follows
    ruled           Enum8('' = 0, {{.Statuses}}) DEFAULT '',                -- the end that a record told
    ruled_at        DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),
    reason_of       Enum8('' = 0, {{.Statuses}}) DEFAULT '',                -- the status of the record that gave reason
    progress        Bool DEFAULT false,                                     -- run_events has some

    sign            Int8 CODEC(ZSTD(1)),
    revision        UInt32 CODEC(ZSTD(1)),
    measured        Bool DEFAULT false,                                     -- the row that brought the first end, whose times reports take
    batch           String CODEC(ZSTD(1)),                                  -- the write that brought the row, STREAM:first-last

    commit_ms   Int64 MATERIALIZED multiIf(toUnixTimestamp64Milli(queued_at) > 0, greatest(dateDiff('millisecond', fire_time, queued_at), 0), toUnixTimestamp64Milli(committed_at) > 0, greatest(dateDiff('millisecond', fire_time, committed_at), 0), -1) CODEC(T64, ZSTD(1)), -- until it was decided
    deliver_ms  Int64 MATERIALIZED if(toUnixTimestamp64Milli(delivered_at) > 0, greatest(dateDiff('millisecond', fire_time, delivered_at), 0), -1) CODEC(T64, ZSTD(1)),
    lateness_ms Int64 MATERIALIZED if(toUnixTimestamp64Milli(started_at) > 0, greatest(dateDiff('millisecond', fire_time, started_at), 0), -1) CODEC(T64, ZSTD(1)),
    duration_ms Int64 MATERIALIZED if(toUnixTimestamp64Milli(started_at) > 0 AND toUnixTimestamp64Milli(finished_at) > 0, greatest(dateDiff('millisecond', started_at, finished_at), 0), -1) CODEC(T64, ZSTD(1)),

    INDEX ix_run        run_id         TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_job        job            TYPE set(256) GRANULARITY 1,
    INDEX ix_status     status         TYPE set(16) GRANULARITY 1,
    INDEX ix_run_status run_status     TYPE set(16) GRANULARITY 1,
    INDEX ix_attempt    attempt        TYPE minmax GRANULARITY 1,
    INDEX ix_parent     parent_run_id  TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX ix_message    lower(message) TYPE text(tokenizer = 'splitByNonAlpha')
)
ENGINE = {{.Engine "VersionedCollapsingMergeTree" "sign" "revision"}}
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt)
SETTINGS {{.Settings}};

-- What a row of runs cannot tell of its timeline: that it was queued or held, that it
-- was started, perhaps again, how it came along, and ends that came too late. Marks are events
-- too: of what people say of a run that has ended, with which mark in delivery (1 handled,
-- 2 succeeded, 3 none), and who in instance.
CREATE TABLE IF NOT EXISTS {{.Local "run_events"}} {{.OnCluster}}
(
    run_id          UUID,
    broadcast_index Int32 DEFAULT -1,
    attempt         UInt32,
    group           LowCardinality(String),
    job             LowCardinality(String),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind            Enum8({{.Kinds}}),
    slot            Int64 CODEC(ZSTD(1)),                                   -- tells events of one kind apart, and repeats not
    at              DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    status          Enum8({{.Statuses}}),
    instance        LowCardinality(String),
    delivery        UInt32,
    percent         Float64 CODEC(ZSTD(1)),
    detail          String CODEC(ZSTD(1)),                                  -- reason, message or progress text
    precedence      Int64 CODEC(ZSTD(1))                                    -- of those with one slot, the highest stays
)
ENGINE = {{.Engine "ReplacingMergeTree" "precedence"}}
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt, kind, slot)
SETTINGS index_granularity = 1024, {{.Settings}};

-- A part holds the lines of one day's runs in one class of retention, so that it is
-- dropped whole. Classes are few: 1, 3, 7, 14, 30, 90 and 365 days. Lines are kept from when
-- they were written: the fires of a backfill are old before they run. The program drops parts
-- by their names; the TTL is for when it does not.
CREATE TABLE IF NOT EXISTS {{.Local "run_logs"}} {{.OnCluster}}
(
    group           LowCardinality(String),
    job             LowCardinality(String),
    run_id          UUID CODEC(ZSTD(1)),
    broadcast_index Int32 DEFAULT -1,                                       -- of a piece; -1 is the attempt as a whole
    attempt         UInt32,
    seq             UInt64 CODEC(Delta(8), ZSTD(1)),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    at              DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    level           LowCardinality(String),
    output          LowCardinality(String),
    text            String CODEC(ZSTD(1)),
    retention_days  UInt16,
    precedence      Int64 CODEC(ZSTD(1)),

    INDEX ix_run run_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_at  at     TYPE minmax GRANULARITY 1
{{- if .TextIndex}},
    INDEX ix_text lower(text) TYPE text(tokenizer = 'splitByNonAlpha')      -- of the expression: with a preprocessor, 26.7 finds wrong rows
{{- end}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "precedence"}}
PARTITION BY (toYYYYMMDD(fire_time), retention_days)
ORDER BY (group, job, run_id, broadcast_index, attempt, seq)
TTL toDateTime(intDiv(-precedence, 1000000000), 'UTC') + toIntervalDay(retention_days + 1)
SETTINGS ttl_only_drop_parts = 1, merge_with_ttl_timeout = 3600, {{.Settings}};

-- Reports are added up from the rows of runs as they come in. Counts take signs into
-- account; the times of an attempt are taken once, from the row that is marked for it. Tests
-- are not counted.
-- Quantiles are of round(32 * log2(1 + ms)), a scale of one percent a step up to weeks:
-- read them through the views. Hours are counted in parts, so that the days of all time zones
-- are made of whole counts.
--
-- Reports that do not tell jobs apart read rows of groups, and those of a few jobs find them
-- without a look at all others. ClickHouse keeps such projections with each part of a table,
-- through merges and repairs, and chooses them by itself.
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
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Settings}};

CREATE TABLE IF NOT EXISTS {{.Local "report_hour"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
{{template "counts"}},
    PROJECTION per_group
    (SELECT bucket, group,
        {{template "sums"}}
    GROUP BY bucket, group),
    PROJECTION per_job (SELECT * ORDER BY job, bucket)
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 100 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, deduplicate_merge_projection_mode = 'rebuild', {{.Settings}};

CREATE TABLE IF NOT EXISTS {{.Local "report_day"}} {{.OnCluster}}
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
{{template "counts"}},
    PROJECTION per_group
    (SELECT bucket, group,
        {{template "sums"}}
    GROUP BY bucket, group)
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYear(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 1830 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, deduplicate_merge_projection_mode = 'rebuild', {{.Settings}};

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
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, {{.Settings}};

-- What happened beside runs: incidents, the messages about them, and discrepancies of the
-- ledger.
CREATE TABLE IF NOT EXISTS {{.Local "facts"}} {{.OnCluster}}
(
{{template "fact columns"}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "revision"}}
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, {{.Settings}};

-- Who changed what, in a table of its own: whoever may ask the history may not read it
-- by that.
CREATE TABLE IF NOT EXISTS {{.Local "audit_log"}} {{.OnCluster}}
(
{{template "fact columns"}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "revision"}}
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, {{.Settings}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_minute_of_runs"}} {{.OnCluster}} TO {{.Local "report_minute"}} AS
SELECT toStartOfMinute(fire_time) AS bucket, group,
{{.ReportColumns "run_status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test'
GROUP BY bucket, group;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_hour_of_runs"}} {{.OnCluster}} TO {{.Local "report_hour"}} AS
SELECT {{.HourPart "fire_time"}} AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test'
GROUP BY bucket, group, job, version;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_instance_of_runs"}} {{.OnCluster}} TO {{.Local "report_instance"}} AS
SELECT {{.HourPart "fire_time"}} AS bucket, group, instance,
{{.ReportColumns "status" "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test' AND instance != ''
GROUP BY bucket, group, instance;

-- Days are added up from hours.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "report_day_of_hours"}} {{.OnCluster}} TO {{.Local "report_day"}} AS
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

{{.Distributed "runs" "sipHash64(run_id)"}}
{{.Distributed "run_events" "sipHash64(run_id)"}}
{{.Distributed "run_logs" "sipHash64(run_id)"}}
{{.Distributed "report_minute" "sipHash64(group)"}}
{{.Distributed "report_hour" "sipHash64(group)"}}
{{.Distributed "report_day" "sipHash64(group)"}}
{{.Distributed "report_instance" "sipHash64(group)"}}
{{.Distributed "facts" "sipHash64(id)"}}
{{.Distributed "audit_log" "sipHash64(id)"}}

-- What people query. Instants that have not come are NULL here, and a run is one row.
CREATE OR REPLACE VIEW v_runs {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_status AS status, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index = -1 AND run_status != '' AND sign = 1;

CREATE OR REPLACE VIEW v_attempts {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT status, retry AND ruled = '' AS retried, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index = -1 AND sign = 1;

CREATE OR REPLACE VIEW v_pieces {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT status, broadcast_index, broadcast_total, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index >= 0 AND sign = 1;

-- Attempts that went wrong, with # in their message for what varies.
CREATE OR REPLACE VIEW v_failures {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT *, replaceRegexpAll(leftUTF8(splitByChar('\n', multiIf(message != '', message, reason != '', reason, toString(status)))[1], {{.FingerprintLength}}), {{.Variable}}, '#') AS fingerprint
FROM v_attempts
WHERE status IN ('failed', 'timed_out', 'lost');

CREATE OR REPLACE VIEW v_timeline {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, at, kind, status,
    if(kind IN ('marked', 'on_hold', 'resumed'), '', run_events.instance) AS instance, if(kind = 'marked', 0, run_events.delivery) AS delivery, percent, detail,
    if(kind = 'marked', transform(run_events.delivery, [1, 2, 3], ['handled', 'succeeded', 'none'], ''), '') AS mark, if(kind IN ('marked', 'on_hold', 'resumed'), run_events.instance, '') AS made_by
FROM run_events FINAL;

CREATE OR REPLACE VIEW v_lines {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, seq, at, level, output, text
FROM run_logs;

-- Quantiles are arrays of the 50th, 90th, 95th and 99th percentile.
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

CREATE OR REPLACE VIEW v_audit {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT id, at, who AS user, JSONExtractString(doc, 'how') AS how, JSONExtractString(doc, 'token') AS token, JSONExtractString(doc, 'address') AS address,
    what AS operation, object, group, state AS result, JSONExtractString(doc, 'note') AS note,
    arrayMap(x -> JSONExtractString(x, 'field'), JSONExtractArrayRaw(doc, 'changes')) AS fields, JSONExtractRaw(doc, 'changes') AS changes
FROM audit_log FINAL;

CREATE OR REPLACE VIEW v_incidents {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT id AS incident, what AS alert, object AS subject, group, JSONExtractString(doc, 'severity') AS severity, state,
    JSONExtractString(doc, 'summary') AS summary, JSONExtractUInt(doc, 'count') AS count,
    arrayMap(x -> JSONExtractString(x, 'job'), JSONExtractArrayRaw(doc, 'jobs')) AS jobs,
    at AS opened_at,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'resolved_at'), 3, 'UTC') AS resolved_at, JSONExtractString(doc, 'resolution') AS resolution,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'acknowledged_at'), 3, 'UTC') AS acknowledged_at, who AS acknowledged_by,
    JSONExtractString(doc, 'note') AS note
FROM facts FINAL
WHERE kind = 'incident';

CREATE OR REPLACE VIEW v_deliveries {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT JSONExtractString(doc, 'incident') AS incident, JSONExtractString(doc, 'alert') AS alert, group, object AS channel, what AS kind, state,
    JSONExtractUInt(doc, 'delivery', 'attempts') AS attempts, JSONExtractString(doc, 'delivery', 'reason') AS reason,
    at AS made_at, parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'delivery', 'sent_at'), 3, 'UTC') AS sent_at, who AS node
FROM facts AS f FINAL
WHERE f.kind = 'delivery';

CREATE OR REPLACE VIEW v_discrepancies {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT object AS job, group, at AS fire_time, toUUID(id) AS run_id, toUInt32(JSONExtractUInt(doc, 'version')) AS version, JSONExtractString(doc, 'reason') AS reason,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'found_at'), 3, 'UTC') AS found_at
FROM facts FINAL
WHERE kind = 'discrepancy';
