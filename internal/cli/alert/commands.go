package alert

import "github.com/spf13/cobra"

// Commands returns what is done about incidents.
func Commands() []*cobra.Command {
	return []*cobra.Command{newAlertCommand()}
}

// GetCommands returns what "get" shows of alerts.
func GetCommands() []*cobra.Command {
	return []*cobra.Command{newGetIncidentsCommand(), newGetDeliveriesCommand(), newGetAlertRulesCommand(), newGetChannelsCommand(), newGetSilencesCommand()}
}
