package job

import "github.com/spf13/cobra"

// Commands returns what is done with jobs.
func Commands() []*cobra.Command {
	return []*cobra.Command{newPauseCommand(), newResumeCommand(), newSkipCommand(), newDeleteCommand(), newRollbackCommand(), newChangeCommand(), newNextCommand(), newBackfillCommand(), newGraphCommand()}
}

// GetCommands returns what "get" shows of jobs.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetJobsCommand(), newGetVersionsCommand(), newGetCalendarsCommand(), newGetBackfillsCommand()}
}
