// Package firetime replaces ${fire_time}, which stands for the fire time of a run, in texts.
//
// The variable may have steps, ${fire_time|STEP|…}, which are taken one after the other:
//
//	-1d, +2h       some years (y), months (M), weeks (w), days (d), hours (h), minutes (m) or seconds (s)
//	               earlier or later, by the calendar and the clock of the zone
//	day            back to where it began; also hour, week (on Monday), month and year
//	Asia/Shanghai  the zone from here on, by its name in the time zone database or UTC
//	yyyyMMdd       the format; the last step
//
// Without a format it is RFC 3339 with milliseconds. The package knows nothing of jobs.
package firetime
