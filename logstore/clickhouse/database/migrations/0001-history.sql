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
    committed_at    DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)), -- of all instants, 0 is never
    started_at      DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    finished_at     DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    instance        LowCardinality(String) DEFAULT '',
    delivery        UInt32 DEFAULT 0 CODEC(ZSTD(1)),
    exit_code       Nullable(Int32) CODEC(ZSTD(1)),
    message         String DEFAULT '' CODEC(ZSTD(1)),
    reason          String DEFAULT '' CODEC(ZSTD(1)),                       -- of the record before the end
    end_reason      String DEFAULT '' CODEC(ZSTD(1)),                       -- of the record that ended it
    made_by         String DEFAULT '' CODEC(ZSTD(1)),
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

    commit_ms   Int64 MATERIALIZED if(toUnixTimestamp64Milli(committed_at) > 0, greatest(dateDiff('millisecond', fire_time, committed_at), 0), -1) CODEC(T64, ZSTD(1)),
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
SETTINGS {{.Dedup}};

-- What a row of runs cannot tell of its timeline: that it was queued or held, that it
-- was started, perhaps again, how it came along, and ends that came too late.
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
SETTINGS index_granularity = 1024, {{.Dedup}};

-- A part holds the lines of one day's runs in one class of retention, so that it is
-- dropped whole. Classes are few: 1, 3, 7, 14, 30, 90 and 365 days.
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
TTL toDateTime(fire_time) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, merge_with_ttl_timeout = 3600, {{.Dedup}};

{{.Distributed "runs" "sipHash64(run_id)"}}
{{.Distributed "run_events" "sipHash64(run_id)"}}
{{.Distributed "run_logs" "sipHash64(run_id)"}}
