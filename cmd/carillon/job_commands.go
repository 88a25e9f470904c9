package main

import "github.com/spf13/cobra"

// jobCommands returns what is done with jobs.
func jobCommands() []*cobra.Command {
	return []*cobra.Command{newPauseCommand(), newResumeCommand(), newSkipCommand(), newDeleteCommand(), newRollbackCommand(), newNextCommand(), newBackfillCommand()}
}

// jobGetCommands returns what "get" shows of jobs.
func jobGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetJobsCommand(), newGetJobCommand(), newGetVersionsCommand(), newGetCalendarsCommand()}
}
