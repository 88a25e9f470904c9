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
-- What happened beside runs: incidents, the messages about them, and discrepancies of the
-- ledger.
CREATE TABLE IF NOT EXISTS {{.Local "facts"}} {{.OnCluster}}
(
{{template "fact columns"}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "revision"}}
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, {{.Dedup}};

-- Who changed what, in a table of its own: whoever may ask the history may not read it
-- by that.
CREATE TABLE IF NOT EXISTS {{.Local "audit_log"}} {{.OnCluster}}
(
{{template "fact columns"}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "revision"}}
PARTITION BY toYear(at)
ORDER BY (kind, at, id)
SETTINGS index_granularity = 1024, {{.Dedup}};

{{.Distributed "facts" "sipHash64(id)"}}
{{.Distributed "audit_log" "sipHash64(id)"}}

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
