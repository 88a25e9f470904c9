// Package job has the commands of jobs and calendars: show, pause, skip, roll back, backfill and
// delete them, and compute when they fire.
package job
