// Package alert has the commands of incidents, alert rules, channels and silences.
package alert
