-- Ends of attempts: one row each, written once, so that no query over history needs
-- FINAL. The store looks before it writes; the engine is for what slips past that.
CREATE TABLE IF NOT EXISTS {{.Local "runs"}} {{.OnCluster}}
(
    run_id          UUID,                                                   -- UUIDv7, whose time is fire_time
    broadcast_index UInt32 DEFAULT 0,
    broadcast_total UInt32 DEFAULT 1,
    attempt         UInt32,
    group           LowCardinality(String),                                 -- executor group
    job             LowCardinality(String),                                 -- group/name
    version         UInt32,                                                 -- of the job
    status          Enum8({{.Statuses}}),
    cause           Enum8({{.Causes}}),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    committed_at    DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)), -- of all instants, 0 is never
    started_at      DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    finished_at     DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    instance        LowCardinality(String) DEFAULT '',
    delivery        UInt32 DEFAULT 0,
    exit_code       Nullable(Int32) CODEC(ZSTD(1)),
    message         String DEFAULT '' CODEC(ZSTD(1)),
    reason          String DEFAULT '' CODEC(ZSTD(1)),
    made_by         String DEFAULT '' CODEC(ZSTD(1)),
    result          String DEFAULT '' CODEC(ZSTD(1)),                       -- JSON
    log_lines       UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)),
    count           UInt64 DEFAULT 1 CODEC(T64, ZSTD(1)),                   -- fires that share this fate
    until           DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),          -- the last of them
    parent_run_id   UUID DEFAULT toUUID('00000000-0000-0000-0000-000000000000') CODEC(ZSTD(1)),
    batch           String CODEC(ZSTD(1)),                                  -- the write that brought it, STREAM:first-last
    precedence      Int64 CODEC(ZSTD(1)),                                   -- falls with time: the first written stays

    commit_ms   Int64 MATERIALIZED if(toUnixTimestamp64Milli(committed_at) > 0, greatest(dateDiff('millisecond', fire_time, committed_at), 0), -1) CODEC(T64, ZSTD(1)),
    queue_ms    Int64 MATERIALIZED if(toUnixTimestamp64Milli(committed_at) > 0 AND toUnixTimestamp64Milli(started_at) > 0, greatest(dateDiff('millisecond', committed_at, started_at), 0), -1) CODEC(T64, ZSTD(1)),
    lateness_ms Int64 MATERIALIZED if(toUnixTimestamp64Milli(started_at) > 0, greatest(dateDiff('millisecond', fire_time, started_at), 0), -1) CODEC(T64, ZSTD(1)),
    duration_ms Int64 MATERIALIZED if(toUnixTimestamp64Milli(started_at) > 0 AND toUnixTimestamp64Milli(finished_at) > 0, greatest(dateDiff('millisecond', started_at, finished_at), 0), -1) CODEC(T64, ZSTD(1)),

    INDEX ix_run     run_id         TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_job     job            TYPE set(256) GRANULARITY 1,
    INDEX ix_status  status         TYPE set(16) GRANULARITY 1,
    INDEX ix_parent  parent_run_id  TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX ix_message lower(message) TYPE text(tokenizer = 'splitByNonAlpha')
)
ENGINE = {{.Engine "ReplacingMergeTree" "precedence"}}
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt)
SETTINGS {{.Dedup}};

-- What is said about a run before its end, and ends that came too late: its
-- timeline, and the details that an end does not bring.
CREATE TABLE IF NOT EXISTS {{.Local "run_events"}} {{.OnCluster}}
(
    run_id          UUID,
    broadcast_index UInt32 DEFAULT 0,
    attempt         UInt32,
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
    cause           Enum8({{.Causes}}),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind            Enum8({{.Kinds}}),
    slot            Int64 CODEC(ZSTD(1)),                                   -- tells events of one kind apart, and repeats not
    at              DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    status          Enum8({{.Statuses}}),
    committed_at    DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    started_at      DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    instance        LowCardinality(String),
    delivery        UInt32,
    percent         Float64 CODEC(ZSTD(1)),
    detail          String CODEC(ZSTD(1)),                                  -- reason, message or progress text
    made_by         String CODEC(ZSTD(1)),
    precedence      Int64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "precedence"}}
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt, kind, slot)
SETTINGS index_granularity = 1024, {{.Dedup}};

-- The attempts that may be under way. What ends gets a row that says so, and both go
-- minutes later; a row that was left behind is told from the others by looking into
-- runs. Runs of which only the end is heard never come here, and the table stays small.
CREATE TABLE IF NOT EXISTS {{.Local "run_open"}} {{.OnCluster}}
(
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    run_id          UUID,
    broadcast_index UInt32,
    attempt         UInt32,
    group           SimpleAggregateFunction(any, LowCardinality(String)),
    job             SimpleAggregateFunction(any, LowCardinality(String)),
    version         SimpleAggregateFunction(any, UInt32),
    cause           SimpleAggregateFunction(any, Enum8({{.Causes}})),
    status          SimpleAggregateFunction(max, Enum8({{.Statuses}})),
    instance        SimpleAggregateFunction(max, Tuple(UInt32, String)),    -- of the highest delivery
    ended_at        SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt)
TTL ended_at + INTERVAL 1 MINUTE DELETE WHERE toInt8(status) >= {{.FirstFinal}}
SETTINGS index_granularity = 1024, merge_with_ttl_timeout = 60, {{.Dedup}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Local "run_open_of_events"}} {{.OnCluster}} TO {{.Local "run_open"}} AS
SELECT fire_time, run_id, broadcast_index, attempt, group, job, version, cause, status,
    (delivery, toString(instance)) AS instance, toDateTime(0, 'UTC') AS ended_at
FROM {{.Local "run_events"}}
WHERE kind != 'late';

-- A part holds the lines of one day's runs in one class of retention, so that it is
-- dropped whole. Classes are few: 1, 3, 7, 14, 30, 90 and 365 days.
CREATE TABLE IF NOT EXISTS {{.Local "run_logs"}} {{.OnCluster}}
(
    group           LowCardinality(String),
    job             LowCardinality(String),
    run_id          UUID CODEC(ZSTD(1)),
    broadcast_index UInt32 DEFAULT 0,
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
TTL toDateTime(fire_time) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, merge_with_ttl_timeout = 3600, {{.Dedup}};

{{.Distributed "runs" "sipHash64(run_id)"}}
{{.Distributed "run_events" "sipHash64(run_id)"}}
{{.Distributed "run_open" "sipHash64(run_id)"}}
{{.Distributed "run_logs" "sipHash64(run_id)"}}
