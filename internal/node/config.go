package node

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
)

// configFlag names the file that a command reads its flags from too.
const configFlag = "config-file"

// secretFlags are flags for files with a secret. The variable of the flag's name has the
// secret itself, so that of the file ends in _FILE.
var secretFlags = []string{"master-key", "nats-keys", "credential", "secret-key", "oidc-client-secret"}

// variableOf returns the name of the variable that stands for a flag.
func variableOf(flag string) string {
	name := "CARILLON_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if slices.Contains(secretFlags, flag) {
		name += "_FILE"
	}
	return name
}

// configurable lets the flags of a command that runs something be given in the
// environment and in a file too: a flag counts before a variable, and that before the
// file. Its help shows the common flags.
func configurable(cmd *cobra.Command, common ...string) *cobra.Command {
	cmd.Flags().String(configFlag, "", "read flags from this YAML `file`")
	cmd.Long += "\n\nEach flag can also be set by an environment variable (--log-level by " + variableOf("log-level") + ") or in a YAML\nfile by its name. docs/reference/configuration.md lists them all."
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := fromEnvironment(cmd.Flags()); err != nil {
			return cli.Usage(err)
		}
		file, err := cmd.Flags().GetString(configFlag)
		if err != nil || file == "" {
			return err
		}
		return fromFile(cmd.Flags(), file)
	}
	brief(cmd, append(common, configFlag, "log-level")...)
	return cmd
}

func fromEnvironment(flags *pflag.FlagSet) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		text, is := os.LookupEnv(variableOf(f.Name))
		if f.Changed || !is || text == "" || isHelp(f.Name) {
			return
		}
		parts := []string{text}
		if f.Value.Type() != "string" { // a list, or what has no semicolon
			parts = strings.Split(text, ";")
		}
		for _, one := range parts {
			if err := flags.Set(f.Name, strings.TrimSpace(one)); err != nil {
				errs = append(errs, &job.InvalidError{Field: variableOf(f.Name), Reason: err.Error()})
			}
		}
	})
	return errors.Join(errs...)
}

// isHelp reports whether a flag only shows help.
func isHelp(flag string) bool { return flag == "help" || flag == helpAllFlag }

func fromFile(flags *pflag.FlagSet, file string) error {
	data, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		return cli.Usage(fmt.Errorf("read configuration from %s: %w", file, err))
	}
	var errs []error
	for name, value := range values {
		f := flags.Lookup(name)
		if f == nil || name == configFlag || isHelp(name) {
			errs = append(errs, &job.InvalidError{Field: name, Reason: "in " + file + " is not a flag of this command"})
			continue
		}
		if f.Changed {
			continue
		}
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, one := range list {
			if err := flags.Set(name, fmt.Sprint(one)); err != nil {
				errs = append(errs, &job.InvalidError{Field: name, Reason: "in " + file + ": " + err.Error()})
			}
		}
	}
	return cli.Usage(errors.Join(errs...))
}
