package main

import "github.com/spf13/cobra"

// alertCommands returns what is done about incidents.
func alertCommands() []*cobra.Command {
	return []*cobra.Command{newAlertCommand()}
}

// alertGetCommands returns what "get" shows of alerts.
func alertGetCommands() []*cobra.Command {
	return []*cobra.Command{newGetIncidentsCommand(), newGetIncidentCommand(), newGetDeliveriesCommand(), newGetAlertRulesCommand(), newGetChannelsCommand(), newGetSilencesCommand()}
}
