-- Lines are kept from when they were written: the fires of a backfill are old before they
-- run. The program drops parts by their names; this is for when it does not.
ALTER TABLE {{.Local "run_logs"}} {{.OnCluster}}
MODIFY TTL toDateTime(intDiv(-precedence, 1000000000), 'UTC') + toIntervalDay(retention_days + 1)
SETTINGS materialize_ttl_after_modify = 0;
