package node

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

var update = flag.Bool("update", false, "write docs/reference/configuration.md anew")

// running are the commands that run something, and are configured.
func running() []*cobra.Command {
	return []*cobra.Command{newServerCommand(), newExecutorCommand(), newXXLJobCommand(), newDevCommand()}
}

// configuration renders docs/reference/configuration.md.
func configuration() string {
	var b strings.Builder
	b.WriteString(`# Configuration

This page is generated from the flags of the program. To update it, run
` + "`go test ./internal/node -run Configuration -update`" + `.

You can set each flag in three ways. The command line counts before the environment, and the
environment before the file:

| where | example | a flag that may be repeated |
|---|---|---|
| command line | ` + "`--log-level debug`" + ` | repeat it |
| environment | ` + "`CARILLON_LOG_LEVEL=debug`" + ` | separate values by ` + "`;`" + ` |
| YAML file, named by ` + "`--config-file`" + ` or ` + "`CARILLON_CONFIG_FILE`" + ` | ` + "`log-level: debug`" + ` | a list |

If a flag names a file with a secret, the variable without ` + "`_FILE`" + ` contains the secret itself.

- [carillon server](#carillon-server)
- [carillon executor](#carillon-executor)
- [carillon bridge xxl-job](#carillon-bridge-xxl-job)
- [carillon dev](#carillon-dev)
`)
	for _, cmd := range running() {
		name := cmd.Name()
		if name == "xxl-job" {
			name = "bridge " + name
		}
		fmt.Fprintf(&b, "\n## carillon %s\n\n%s.\n\n| flag | variable | default | |\n|---|---|---|---|\n", name, cmd.Short)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if isHelp(f.Name) {
				return
			}
			kind, text := pflag.UnquoteUsage(f)
			if kind != "" {
				kind = " " + kind
			}
			def := f.DefValue
			if def == "[]" || def == "false" && f.Value.Type() == "bool" {
				def = ""
			}
			if def != "" {
				def = "`" + def + "`"
			}
			text = strings.NewReplacer("\n", " ", "|", "\\|", "<", "&lt;").Replace(text)
			fmt.Fprintf(&b, "| `--%s%s` | `%s` | %s | %s |\n", f.Name, kind, variableOf(f.Name), def, text)
		})
	}
	return b.String()
}

func TestTheConfigurationPageIsThatOfTheFlags(t *testing.T) {
	const page = "../../docs/reference/configuration.md"
	got := configuration()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run with -update; docs/reference/configuration.md (-page +program):\n%s", diff)
	}
}

func TestAFlagCountsBeforeAVariableAndThatBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.yaml")
	if err := os.WriteFile(file, []byte("log-level: warn\nreplicas: 3\nlanes: 7\nbehind-proxy: true\ngroup-jobs: 5\noidc-role: [a=viewer, 'b=editor:billing=logs,params']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CARILLON_CONFIG_FILE", file)
	t.Setenv("CARILLON_LOG_LEVEL", "error")
	t.Setenv("CARILLON_REPLICAS", "5")
	t.Setenv("CARILLON_HOST", "a.example;b.example")
	cmd := newServerCommand()
	if err := cmd.ParseFlags([]string{"--replicas", "1"}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.PreRunE(cmd, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"replicas": "1", "log-level": "error", "lanes": "7", "behind-proxy": "true", "group-jobs": "5", "host": "[a.example,b.example]", "oidc-role": "a=viewer b=editor:billing",
	} {
		if got := cmd.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A command line may have semicolons, which part the values of a list.
func TestAVariableOfATextIsTakenWhole(t *testing.T) {
	const command = "cd /srv; php worker.php"
	t.Setenv("CARILLON_WORKER", command)
	cmd := newExecutorCommand()
	if err := cmd.PreRunE(cmd, nil); err != nil {
		t.Fatal(err)
	}
	if got := cmd.Flags().Lookup("worker").Value.String(); got != command {
		t.Errorf("worker is %q, want %q", got, command)
	}
}

func TestAConfigurationThatIsWrongNamesWhatIs(t *testing.T) {
	wrong := func(text, says string, env ...string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "server.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		cmd := newServerCommand()
		if err := cmd.ParseFlags([]string{"--config-file", file}); err != nil {
			t.Fatal(err)
		}
		if err := cmd.PreRunE(cmd, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", text, err, says)
		}
		if code := cli.Execute(t.Context(), cli.NewRoot(Commands()...), []string{"server", "--config-file", file}, strings.NewReader(""), io.Discard, io.Discard); code != cli.ExitUsage {
			t.Errorf("%q: exit code %d, want %d", text, code, cli.ExitUsage)
		}
	}
	wrong("replica: 3", "replica in ")
	wrong("replicas: many", "replicas in ")
	wrong("replicas: [", "read configuration from")
	wrong("", "CARILLON_LANES", "CARILLON_LANES=x")

	t.Setenv("CARILLON_GRACE", "soon")
	if code := cli.Execute(t.Context(), cli.NewRoot(Commands()...), []string{"executor"}, strings.NewReader(""), io.Discard, io.Discard); code != cli.ExitUsage {
		t.Errorf("an executor with a wrong variable: exit code %d, want %d", code, cli.ExitUsage)
	}
}

// flagsOf returns the flags of a command line of ours, without their values.
func flagsOf(line string) (command string, flags []string) {
	words := strings.Fields(line)
	for i, w := range words {
		if i == 0 {
			command = w
		}
		if name, is := strings.CutPrefix(w, "--"); is {
			name, _, _ = strings.Cut(name, "=")
			flags = append(flags, name)
		}
	}
	return command, flags
}

// What is in deploy/ can be tried by nobody who has no cluster at hand. So at least
// what it says to the program must be something that the program knows.
func TestWhatIsDeployedUsesFlagsAndVariablesThatThereAre(t *testing.T) {
	commands := map[string]*cobra.Command{}
	variables := []string{"CARILLON_MASTER_KEY", "CARILLON_NATS_KEYS", "CARILLON_CREDENTIAL", "CARILLON_SECRET_KEY", "CARILLON_OIDC_CLIENT_SECRET"}
	for _, cmd := range running() {
		commands[cmd.Name()] = cmd
		cmd.Flags().VisitAll(func(f *pflag.Flag) { variables = append(variables, variableOf(f.Name)) })
	}
	uses := 0
	check := func(file, line string) {
		name, flags := flagsOf(line)
		cmd, known := commands[name]
		if !known {
			t.Errorf("%s: carillon %s is none of the commands that run something", file, name)
			return
		}
		for _, f := range flags {
			if uses++; cmd.Flags().Lookup(f) == nil {
				t.Errorf("%s: carillon %s has no flag --%s", file, name, f)
			}
		}
	}
	err := filepath.WalkDir("../../deploy", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(data)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') }) {
			if strings.HasPrefix(word, "CARILLON_") && !slices.Contains(variables, word) {
				t.Errorf("%s: there is no variable %s", path, word)
			}
		}
		switch {
		case strings.HasSuffix(path, ".service"):
			_, line, _ := strings.Cut(text, "ExecStart=/usr/bin/carillon ")
			line, _, _ = strings.Cut(strings.ReplaceAll(line, "\\\n", " "), "\n")
			check(path, line)
		case strings.Contains(path, "/helm/"): // templates, which are rendered below
		case strings.HasSuffix(path, ".yaml"):
			for _, doc := range documents(t, path, data) {
				for _, line := range commandLines(doc) {
					check(path, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range renderChart(t, chartWithExecutor(t)) {
		for _, line := range commandLines(doc) {
			check("deploy/helm", line)
		}
	}
	if uses < 20 {
		t.Errorf("only %d flags are used: the test reads past them", uses)
	}
}

// commandLines finds the lists of arguments for our program in a document, by the keys
// that Compose and Kubernetes have for them.
func commandLines(v any) (lines []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			list, isList := value.([]any)
			if (key == "command" || key == "args") && isList && len(list) > 0 && (list[0] == "server" || list[0] == "executor") {
				var words []string
				for _, w := range list {
					words = append(words, fmt.Sprint(w))
				}
				lines = append(lines, strings.Join(words, " "))
				continue
			}
			lines = append(lines, commandLines(value)...)
		}
	case []any:
		for _, one := range v {
			lines = append(lines, commandLines(one)...)
		}
	}
	return lines
}

// documents reads all documents of a YAML file.
func documents(t *testing.T, path string, data []byte) (all []any) {
	t.Helper()
	in := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc any
		err := in.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, doc)
	}
}
