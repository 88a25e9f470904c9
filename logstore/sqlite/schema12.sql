-- Success is judged by what a schedule asked for, so the rest of those fires that are judged is
-- counted. What was counted before counts as it did.
ALTER TABLE report_minute ADD COLUMN unscheduled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE report_minute ADD COLUMN unscheduled_succeeded INTEGER NOT NULL DEFAULT 0;

ALTER TABLE report_group ADD COLUMN unscheduled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE report_group ADD COLUMN unscheduled_succeeded INTEGER NOT NULL DEFAULT 0;

ALTER TABLE report_hour ADD COLUMN unscheduled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE report_hour ADD COLUMN unscheduled_succeeded INTEGER NOT NULL DEFAULT 0;

ALTER TABLE report_day ADD COLUMN unscheduled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE report_day ADD COLUMN unscheduled_succeeded INTEGER NOT NULL DEFAULT 0;

ALTER TABLE report_instance ADD COLUMN unscheduled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE report_instance ADD COLUMN unscheduled_succeeded INTEGER NOT NULL DEFAULT 0;
