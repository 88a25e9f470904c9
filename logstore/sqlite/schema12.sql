-- The success rate is that of runs that a schedule asked for, so the other runs are counted apart.
-- Rows from before this version have none: their rates stay as they were.
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
