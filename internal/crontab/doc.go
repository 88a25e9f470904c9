// Package crontab reads crontabs, as Vixie cron and its descendants do, and makes
// jobs of their lines.
//
// A line is a setting, a job, or a comment. What cron knows and a cluster cannot do
// ("@reboot") is skipped with the reason; what cron would not understand either is
// broken; neither keeps the other lines from being read:
//
//	SHELL=/bin/bash                     a setting, for the jobs below it
//	# name: nightly-backup              the name of the job below, else taken from its command
//	0 3 * * *  tar cf /b/$(date +\%F).tar /data
//	0 4 * * *  mail -s hi ops%body%text everything after the first % is standard input
//	@reboot    /srv/warm-up             skipped
//
// What changes: a job does not run as the user named in a system crontab but as the
// executor does, nothing is mailed since output is kept in the run's log, and a fire
// that was missed is handled by the job's misfire policy, where cron forgets it.
package crontab
