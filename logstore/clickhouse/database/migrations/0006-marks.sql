-- Marks are events too: of what people say of a run that has ended, with which mark in
-- delivery (1 handled, 2 succeeded, 3 none), and who in instance.
ALTER TABLE {{.Local "run_events"}} {{.OnCluster}} MODIFY COLUMN kind Enum8({{.Kinds}});

{{if .Sharded}}ALTER TABLE run_events {{.OnCluster}} MODIFY COLUMN kind Enum8({{.Kinds}});

{{end -}}
CREATE OR REPLACE VIEW v_timeline {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, at, kind, status,
    if(kind = 'marked', '', instance) AS instance, if(kind = 'marked', 0, delivery) AS delivery, percent, detail,
    if(kind = 'marked', transform(delivery, [1, 2, 3], ['handled', 'succeeded', 'none'], ''), '') AS mark, if(kind = 'marked', instance, '') AS marked_by
FROM run_events FINAL;
