-- Attempts of runs, and the pieces of those that are done in pieces. A change adds two
-- rows: one takes back the row that was (sign -1), the other holds what is now (sign 1,
-- the next revision). So sums over sign are exact at any moment, whatever was merged, and
-- no query needs FINAL; and a view that adds up what comes in stays exact, too.
CREATE TABLE IF NOT EXISTS runs_local ON CLUSTER main
(
    run_id          UUID,                                                   -- UUIDv7, whose time is fire_time
    broadcast_index Int32 DEFAULT -1 CODEC(ZSTD(1)),                        -- of a piece; -1 is the attempt as a whole
    broadcast_total UInt32 DEFAULT 0 CODEC(ZSTD(1)),                        -- 0 when it is not done in pieces
    attempt         UInt32 CODEC(ZSTD(1)),
    group           LowCardinality(String),                                 -- executor group
    job             LowCardinality(String),                                 -- group/name
    version         UInt32 CODEC(ZSTD(1)),                                  -- of the job
    status          Enum8('queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16),                                   -- of the attempt
    run_status      Enum8('' = 0, 'queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16),                           -- of the run, as this attempt tells; '' once a newer one does
    cause           Enum8('schedule' = 1, 'misfire' = 2, 'backfill' = 3, 'manual' = 4, 'api' = 5, 'parent' = 6, 'rerun' = 7, 'ping' = 8, 'test' = 9, 'step' = 10),
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
    reported        Enum8('' = 0, 'queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16) DEFAULT '',                -- the end that an event told
    reported_at     DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),          -- 0 when it is finished_at
    retry           Bool DEFAULT false,                                     -- it also told that another attempt follows
    ruled           Enum8('' = 0, 'queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16) DEFAULT '',                -- the end that a record told
    ruled_at        DateTime64(3, 'UTC') DEFAULT 0 CODEC(ZSTD(1)),
    reason_of       Enum8('' = 0, 'queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16) DEFAULT '',                -- the status of the record that gave reason
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
ENGINE = ReplicatedVersionedCollapsingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', sign, revision)
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt)
SETTINGS replicated_deduplication_window = 10000, auto_statistics_types = '';

-- What a row of runs cannot tell of its timeline: that it was queued or held, that it
-- was started, perhaps again, how it came along, and ends that came too late. Marks are events
-- too: of what people say of a run that has ended, with which mark in delivery (1 handled,
-- 2 succeeded, 3 none), and who in instance.
CREATE TABLE IF NOT EXISTS run_events_local ON CLUSTER main
(
    run_id          UUID,
    broadcast_index Int32 DEFAULT -1,
    attempt         UInt32,
    group           LowCardinality(String),
    job             LowCardinality(String),
    fire_time       DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind            Enum8('recorded' = 1, 'started' = 2, 'progress' = 3, 'finished' = 4, 'late' = 5, 'held' = 6, 'marked' = 7, 'on_hold' = 8, 'resumed' = 9),
    slot            Int64 CODEC(ZSTD(1)),                                   -- tells events of one kind apart, and repeats not
    at              DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    status          Enum8('queued' = 1, 'pending' = 2, 'running' = 3, 'succeeded' = 10, 'failed' = 11, 'timed_out' = 12, 'cancelled' = 13, 'lost' = 14, 'skipped' = 15, 'missed' = 16),
    instance        LowCardinality(String),
    delivery        UInt32,
    percent         Float64 CODEC(ZSTD(1)),
    detail          String CODEC(ZSTD(1)),                                  -- reason, message or progress text
    precedence      Int64 CODEC(ZSTD(1))                                    -- of those with one slot, the highest stays
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', precedence)
PARTITION BY toYYYYMMDD(fire_time)
ORDER BY (fire_time, run_id, broadcast_index, attempt, kind, slot)
SETTINGS index_granularity = 1024, replicated_deduplication_window = 10000, auto_statistics_types = '';

-- A part holds the lines of one day's runs in one class of retention, so that it is
-- dropped whole. Classes are few: 1, 3, 7, 14, 30, 90 and 365 days. Lines are kept from when
-- they were written: the fires of a backfill are old before they run. The program drops parts
-- by their names; the TTL is for when it does not.
CREATE TABLE IF NOT EXISTS run_logs_local ON CLUSTER main
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
    INDEX ix_at  at     TYPE minmax GRANULARITY 1,
    INDEX ix_text lower(text) TYPE text(tokenizer = 'splitByNonAlpha')      -- of the expression: with a preprocessor, 26.7 finds wrong rows
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', precedence)
PARTITION BY (toYYYYMMDD(fire_time), retention_days)
ORDER BY (group, job, run_id, broadcast_index, attempt, seq)
TTL toDateTime(intDiv(-precedence, 1000000000), 'UTC') + toIntervalDay(retention_days + 1)
SETTINGS ttl_only_drop_parts = 1, merge_with_ttl_timeout = 3600, replicated_deduplication_window = 10000, auto_statistics_types = '';

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
CREATE TABLE IF NOT EXISTS report_minute_local ON CLUSTER main
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
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
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(bucket)
ORDER BY (bucket, group)
TTL bucket + INTERVAL 8 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, replicated_deduplication_window = 10000, auto_statistics_types = '';

CREATE TABLE IF NOT EXISTS report_hour_local ON CLUSTER main
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
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
    finished_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    PROJECTION per_group
    (SELECT bucket, group,
        sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(delivered),
    sum(unscheduled), sum(unscheduled_succeeded),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(delivered_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
    GROUP BY bucket, group),
    PROJECTION per_job (SELECT * ORDER BY job, bucket)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMM(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 100 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, deduplicate_merge_projection_mode = 'rebuild', replicated_deduplication_window = 10000, auto_statistics_types = '';

CREATE TABLE IF NOT EXISTS report_day_local ON CLUSTER main
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    job             LowCardinality(String),
    version         UInt32,
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
    finished_q      AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)),
    PROJECTION per_group
    (SELECT bucket, group,
        sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(delivered),
    sum(unscheduled), sum(unscheduled_succeeded),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(delivered_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
    GROUP BY bucket, group)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYear(bucket)
ORDER BY (bucket, group, job, version)
TTL bucket + INTERVAL 1830 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, deduplicate_merge_projection_mode = 'rebuild', replicated_deduplication_window = 10000, auto_statistics_types = '';

-- By hour and instance; the counts are of attempts.
CREATE TABLE IF NOT EXISTS report_instance_local ON CLUSTER main
(
    bucket          DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    group           LowCardinality(String),
    instance        LowCardinality(String),
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
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMM(bucket)
ORDER BY (bucket, group, instance)
TTL bucket + INTERVAL 100 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, replicated_deduplication_window = 10000, auto_statistics_types = '';

-- What happened beside runs: incidents, the messages about them, and discrepancies of the
-- ledger.
CREATE TABLE IF NOT EXISTS facts_local ON CLUSTER main
(
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
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', revision)
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, replicated_deduplication_window = 10000, auto_statistics_types = '';

-- Who changed what, in a table of its own: whoever may ask the history may not read it
-- by that.
CREATE TABLE IF NOT EXISTS audit_log_local ON CLUSTER main
(
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
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', revision)
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, replicated_deduplication_window = 10000, auto_statistics_types = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS report_minute_of_runs_local ON CLUSTER main TO report_minute_local AS
SELECT toStartOfMinute(fire_time) AS bucket, group,
    sumIf(sign * toInt64(count), run_status = 'succeeded') AS succeeded,
    sumIf(sign * toInt64(count), run_status = 'failed') AS failed,
    sumIf(sign * toInt64(count), run_status = 'timed_out') AS timed_out,
    sumIf(sign * toInt64(count), run_status = 'cancelled') AS cancelled,
    sumIf(sign * toInt64(count), run_status = 'lost') AS lost,
    sumIf(sign * toInt64(count), run_status = 'skipped') AS skipped,
    sumIf(sign * toInt64(count), run_status = 'missed') AS missed,
    sumIf(sign * toInt64(count), run_status IN ('succeeded', 'failed', 'timed_out', 'lost', 'missed') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled,
    sumIf(sign * toInt64(count), run_status IN ('succeeded') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled_succeeded,
    sumIf(toInt64(sign), status < 'skipped') AS attempts,
    countIf(measured) AS begun,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS firsts,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered,
    toUInt64(sumIf(duration_ms, measured)) AS duration_sum_ms,
    toUInt64(greatest(maxIf(duration_ms, measured), 0)) AS duration_max_ms,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(duration_ms, 0)))), measured) AS duration_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(commit_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND commit_ms >= 0) AS committed_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(deliver_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(lateness_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS started_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest((lateness_ms + duration_ms), 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS finished_q
FROM runs_local
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test'
GROUP BY bucket, group;

CREATE MATERIALIZED VIEW IF NOT EXISTS report_hour_of_runs_local ON CLUSTER main TO report_hour_local AS
SELECT toDateTime(intDiv(toUnixTimestamp(fire_time), 86400) * 86400 + roundDown(toUnixTimestamp(fire_time) % 86400, [0, 3600, 7200, 9000, 10800, 12600, 14400, 18000, 21600, 25200, 28800, 32400, 34200, 36000, 36900, 39600, 40500, 43200, 46800, 48600, 50400, 52200, 54000, 54900, 57600, 61200, 63000, 64800, 65700, 66600, 68400, 70200, 72000, 73800, 75600, 79200, 82800]), 'UTC') AS bucket, group, job, version,
    sumIf(sign * toInt64(count), run_status = 'succeeded') AS succeeded,
    sumIf(sign * toInt64(count), run_status = 'failed') AS failed,
    sumIf(sign * toInt64(count), run_status = 'timed_out') AS timed_out,
    sumIf(sign * toInt64(count), run_status = 'cancelled') AS cancelled,
    sumIf(sign * toInt64(count), run_status = 'lost') AS lost,
    sumIf(sign * toInt64(count), run_status = 'skipped') AS skipped,
    sumIf(sign * toInt64(count), run_status = 'missed') AS missed,
    sumIf(sign * toInt64(count), run_status IN ('succeeded', 'failed', 'timed_out', 'lost', 'missed') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled,
    sumIf(sign * toInt64(count), run_status IN ('succeeded') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled_succeeded,
    sumIf(toInt64(sign), status < 'skipped') AS attempts,
    countIf(measured) AS begun,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS firsts,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered,
    toUInt64(sumIf(duration_ms, measured)) AS duration_sum_ms,
    toUInt64(greatest(maxIf(duration_ms, measured), 0)) AS duration_max_ms,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(duration_ms, 0)))), measured) AS duration_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(commit_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND commit_ms >= 0) AS committed_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(deliver_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(lateness_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS started_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest((lateness_ms + duration_ms), 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS finished_q
FROM runs_local
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test'
GROUP BY bucket, group, job, version;

CREATE MATERIALIZED VIEW IF NOT EXISTS report_instance_of_runs_local ON CLUSTER main TO report_instance_local AS
SELECT toDateTime(intDiv(toUnixTimestamp(fire_time), 86400) * 86400 + roundDown(toUnixTimestamp(fire_time) % 86400, [0, 3600, 7200, 9000, 10800, 12600, 14400, 18000, 21600, 25200, 28800, 32400, 34200, 36000, 36900, 39600, 40500, 43200, 46800, 48600, 50400, 52200, 54000, 54900, 57600, 61200, 63000, 64800, 65700, 66600, 68400, 70200, 72000, 73800, 75600, 79200, 82800]), 'UTC') AS bucket, group, instance,
    sumIf(toInt64(sign), status = 'succeeded') AS succeeded,
    sumIf(toInt64(sign), status = 'failed') AS failed,
    sumIf(toInt64(sign), status = 'timed_out') AS timed_out,
    sumIf(toInt64(sign), status = 'cancelled') AS cancelled,
    sumIf(toInt64(sign), status = 'lost') AS lost,
    sumIf(toInt64(sign), status = 'skipped') AS skipped,
    sumIf(toInt64(sign), status = 'missed') AS missed,
    sumIf(toInt64(sign), status IN ('succeeded', 'failed', 'timed_out', 'lost', 'missed') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled,
    sumIf(toInt64(sign), status IN ('succeeded') AND cause NOT IN ('schedule', 'misfire')) AS unscheduled_succeeded,
    sumIf(toInt64(sign), status < 'skipped') AS attempts,
    countIf(measured) AS begun,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS firsts,
    countIf(measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered,
    toUInt64(sumIf(duration_ms, measured)) AS duration_sum_ms,
    toUInt64(greatest(maxIf(duration_ms, measured), 0)) AS duration_max_ms,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(duration_ms, 0)))), measured) AS duration_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(commit_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND commit_ms >= 0) AS committed_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(deliver_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire') AND deliver_ms >= 0) AS delivered_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(lateness_ms, 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS started_q,
    quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest((lateness_ms + duration_ms), 0)))), measured AND attempt = 1 AND cause IN ('schedule', 'misfire')) AS finished_q
FROM runs_local
WHERE broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test' AND instance != ''
GROUP BY bucket, group, instance;

-- Days are added up from hours.
CREATE MATERIALIZED VIEW IF NOT EXISTS report_day_of_hours_local ON CLUSTER main TO report_day_local AS
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
FROM report_hour_local AS h
GROUP BY bucket, group, job, version;

CREATE TABLE IF NOT EXISTS runs ON CLUSTER main AS runs_local
ENGINE = Distributed('main', 'carillon', 'runs_local', sipHash64(run_id));

CREATE TABLE IF NOT EXISTS run_events ON CLUSTER main AS run_events_local
ENGINE = Distributed('main', 'carillon', 'run_events_local', sipHash64(run_id));

CREATE TABLE IF NOT EXISTS run_logs ON CLUSTER main AS run_logs_local
ENGINE = Distributed('main', 'carillon', 'run_logs_local', sipHash64(run_id));

CREATE TABLE IF NOT EXISTS report_minute ON CLUSTER main AS report_minute_local
ENGINE = Distributed('main', 'carillon', 'report_minute_local', sipHash64(group));

CREATE TABLE IF NOT EXISTS report_hour ON CLUSTER main AS report_hour_local
ENGINE = Distributed('main', 'carillon', 'report_hour_local', sipHash64(group));

CREATE TABLE IF NOT EXISTS report_day ON CLUSTER main AS report_day_local
ENGINE = Distributed('main', 'carillon', 'report_day_local', sipHash64(group));

CREATE TABLE IF NOT EXISTS report_instance ON CLUSTER main AS report_instance_local
ENGINE = Distributed('main', 'carillon', 'report_instance_local', sipHash64(group));

CREATE TABLE IF NOT EXISTS facts ON CLUSTER main AS facts_local
ENGINE = Distributed('main', 'carillon', 'facts_local', sipHash64(id));

CREATE TABLE IF NOT EXISTS audit_log ON CLUSTER main AS audit_log_local
ENGINE = Distributed('main', 'carillon', 'audit_log_local', sipHash64(id));

-- What people query. Instants that have not come are NULL here, and a run is one row.
CREATE OR REPLACE VIEW v_runs ON CLUSTER main SQL SECURITY INVOKER AS
SELECT run_status AS status, run_id, job, group, version, attempt, cause, fire_time,
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
FROM runs FINAL
WHERE broadcast_index = -1 AND run_status != '' AND sign = 1;

CREATE OR REPLACE VIEW v_attempts ON CLUSTER main SQL SECURITY INVOKER AS
SELECT status, retry AND ruled = '' AS retried, run_id, job, group, version, attempt, cause, fire_time,
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
FROM runs FINAL
WHERE broadcast_index = -1 AND sign = 1;

CREATE OR REPLACE VIEW v_pieces ON CLUSTER main SQL SECURITY INVOKER AS
SELECT status, broadcast_index, broadcast_total, run_id, job, group, version, attempt, cause, fire_time,
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
FROM runs FINAL
WHERE broadcast_index >= 0 AND sign = 1;

-- Attempts that went wrong, with # in their message for what varies.
CREATE OR REPLACE VIEW v_failures ON CLUSTER main SQL SECURITY INVOKER AS
SELECT *, replaceRegexpAll(leftUTF8(splitByChar('\n', multiIf(message != '', message, reason != '', reason, toString(status)))[1], 200), '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]+|\\b[0-9a-fA-F]{16,}\\b|[0-9]+([.:][0-9]+)*', '#') AS fingerprint
FROM v_attempts
WHERE status IN ('failed', 'timed_out', 'lost');

CREATE OR REPLACE VIEW v_timeline ON CLUSTER main SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, at, kind, status,
    if(kind IN ('marked', 'on_hold', 'resumed'), '', run_events.instance) AS instance, if(kind = 'marked', 0, run_events.delivery) AS delivery, percent, detail,
    if(kind = 'marked', transform(run_events.delivery, [1, 2, 3], ['handled', 'succeeded', 'none'], ''), '') AS mark, if(kind IN ('marked', 'on_hold', 'resumed'), run_events.instance, '') AS made_by
FROM run_events FINAL;

CREATE OR REPLACE VIEW v_lines ON CLUSTER main SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, seq, at, level, output, text
FROM run_logs;

-- Quantiles are arrays of the 50th, 90th, 95th and 99th percentile.
CREATE OR REPLACE VIEW v_minutes ON CLUSTER main SQL SECURITY INVOKER AS
SELECT bucket AS minute, group, sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
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
FROM report_minute AS r
GROUP BY bucket, group;

CREATE OR REPLACE VIEW v_hours ON CLUSTER main SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, job, version, sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
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
FROM report_hour AS r
GROUP BY hour, group, job, version;

CREATE OR REPLACE VIEW v_days ON CLUSTER main SQL SECURITY INVOKER AS
SELECT bucket AS day, group, job, version, sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
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
FROM report_day AS r
GROUP BY bucket, group, job, version;

CREATE OR REPLACE VIEW v_instances ON CLUSTER main SQL SECURITY INVOKER AS
SELECT toStartOfHour(bucket) AS hour, group, instance, sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
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
FROM report_instance AS r
GROUP BY hour, group, instance;

CREATE OR REPLACE VIEW v_audit ON CLUSTER main SQL SECURITY INVOKER AS
SELECT id, at, who AS user, JSONExtractString(doc, 'how') AS how, JSONExtractString(doc, 'token') AS token, JSONExtractString(doc, 'address') AS address,
    what AS operation, object, group, state AS result, JSONExtractString(doc, 'note') AS note,
    arrayMap(x -> JSONExtractString(x, 'field'), JSONExtractArrayRaw(doc, 'changes')) AS fields, JSONExtractRaw(doc, 'changes') AS changes
FROM audit_log FINAL;

CREATE OR REPLACE VIEW v_incidents ON CLUSTER main SQL SECURITY INVOKER AS
SELECT id AS incident, what AS alert, object AS subject, group, JSONExtractString(doc, 'severity') AS severity, state,
    JSONExtractString(doc, 'summary') AS summary, JSONExtractUInt(doc, 'count') AS count,
    arrayMap(x -> JSONExtractString(x, 'job'), JSONExtractArrayRaw(doc, 'jobs')) AS jobs,
    at AS opened_at,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'resolved_at'), 3, 'UTC') AS resolved_at, JSONExtractString(doc, 'resolution') AS resolution,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'acknowledged_at'), 3, 'UTC') AS acknowledged_at, who AS acknowledged_by,
    JSONExtractString(doc, 'note') AS note
FROM facts FINAL
WHERE kind = 'incident';

CREATE OR REPLACE VIEW v_deliveries ON CLUSTER main SQL SECURITY INVOKER AS
SELECT JSONExtractString(doc, 'incident') AS incident, JSONExtractString(doc, 'alert') AS alert, group, object AS channel, what AS kind, state,
    JSONExtractUInt(doc, 'delivery', 'attempts') AS attempts, JSONExtractString(doc, 'delivery', 'reason') AS reason,
    at AS made_at, parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'delivery', 'sent_at'), 3, 'UTC') AS sent_at, who AS node
FROM facts AS f FINAL
WHERE f.kind = 'delivery';

CREATE OR REPLACE VIEW v_discrepancies ON CLUSTER main SQL SECURITY INVOKER AS
SELECT object AS job, group, at AS fire_time, toUUID(id) AS run_id, toUInt32(JSONExtractUInt(doc, 'version')) AS version, JSONExtractString(doc, 'reason') AS reason,
    parseDateTime64BestEffortOrNull(JSONExtractString(doc, 'found_at'), 3, 'UTC') AS found_at
FROM facts FINAL
WHERE kind = 'discrepancy';
