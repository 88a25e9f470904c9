package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// The kinds of task, as executors announce them.
const (
	KindHandler = "handler"
	KindShell   = "shell"
	KindCommand = "command"
	KindHTTP    = "http"
	KindScript  = "script"
)

// TaskKinds lists every kind of task that executors do.
var TaskKinds = []string{KindHandler, KindShell, KindCommand, KindHTTP, KindScript}

// Task is what a run does. Exactly one of Handler, Shell, Command, HTTP, Script and Watch is
// set.
type Task struct {
	// Handler names a function that an executor of the group has registered.
	Handler string `json:"handler,omitempty"`
	// Shell is a script for /bin/sh.
	Shell string `json:"shell,omitempty"`
	// Command is a program and its arguments; no shell sees them.
	Command []string `json:"command,omitempty"`
	// HTTP is a request that the executor sends.
	HTTP *HTTP `json:"http,omitempty"`
	// Script is a program in a language that the executor has an interpreter for.
	Script *Script `json:"script,omitempty"`
	// Watch says that no executor does the run: it is done elsewhere, and pings tell of it.
	Watch *Watch `json:"watch,omitempty"`
	// Dir is the working directory of Shell, Command and Script. Empty is a new, empty
	// directory for each run, removed afterwards.
	Dir string `json:"dir,omitempty"`
	// Env adds to the executor's environment of Shell, Command and Script, and to the
	// variables of HTTP.
	Env map[string]string `json:"env,omitempty"`
	// Secrets is like Env, but each value is the name of a secret of the group. Only the
	// executor that does the run sees the secret itself.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Stdin is what Shell, Command and Script read from their standard input.
	Stdin string `json:"stdin,omitempty"`
}

// Kind returns which of [TaskKinds] the task is of, or [KindWatch]; "" if it is of none, or of one that only newer
// programs know.
func (t Task) Kind() string {
	switch {
	case t.Handler != "":
		return KindHandler
	case t.Shell != "":
		return KindShell
	case t.HTTP != nil:
		return KindHTTP
	case t.Script != nil:
		return KindScript
	case len(t.Command) > 0:
		return KindCommand
	case t.Watch != nil:
		return KindWatch
	}
	return ""
}

// Brief returns what the task does as a short text, such as the name of its handler. A script may have many lines.
func (t Task) Brief() string {
	switch {
	case t.Handler != "":
		return t.Handler
	case t.Shell != "":
		return t.Shell
	case t.HTTP != nil:
		return t.HTTP.Verb() + " " + t.HTTP.URL
	case t.Script != nil && t.Script.Source == "":
		return t.Script.Language + " " + t.Script.Digest
	case t.Script != nil:
		return t.Script.Language + " " + t.Script.Source
	case t.Watch != nil:
		return "a ping within " + t.Watch.grace().String()
	}
	return strings.Join(t.Command, " ")
}

func (t Task) validate() []error {
	var errs []error
	kinds := 0
	for _, set := range []bool{t.Handler != "", t.Shell != "", len(t.Command) > 0, t.HTTP != nil, t.Script != nil, t.Watch != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		errs = append(errs, Invalid("task", "must have exactly one of handler, shell, command, http, script and watch"))
	}
	if len(t.Handler) > 255 {
		errs = append(errs, Invalid("task.handler", "is longer than 255 characters"))
	}
	if len(t.Shell) > MaxShell {
		errs = append(errs, Invalid("task.shell", "has %d bytes; at most %d travel with a trigger: make it a script, or keep it in a file of the executor's", len(t.Shell), MaxShell))
	}
	for i, arg := range t.Command {
		if i == 0 && arg == "" {
			errs = append(errs, Invalid("task.command[0]", "is empty; it must name a program"))
		}
		if strings.ContainsRune(arg, 0) {
			errs = append(errs, Invalid(fmt.Sprintf("task.command[%d]", i), "has a NUL byte"))
		}
	}
	if strings.ContainsRune(t.Shell, 0) {
		errs = append(errs, Invalid("task.shell", "has a NUL byte"))
	}
	if len(t.Stdin) > MaxShell {
		errs = append(errs, Invalid("task.stdin", "has %d bytes; at most %d travel with a trigger", len(t.Stdin), MaxShell))
	}
	errs = append(errs, t.validateVariables()...)
	if t.HTTP != nil {
		errs = append(errs, t.HTTP.validate(t)...)
	}
	if t.Script != nil {
		errs = append(errs, t.Script.validate()...)
	}
	if t.Handler != "" && (t.Dir != "" || len(t.Env) > 0 || t.Stdin != "") {
		errs = append(errs, Invalid("task", "has dir, env or stdin, which a handler does not use; pass params"))
	}
	if t.HTTP != nil && (t.Dir != "" || t.Stdin != "") {
		errs = append(errs, Invalid("task", "has dir or stdin, which an http task does not use; it has a body"))
	}
	return errs
}

// validateVariables checks env and secrets.
func (t Task) validateVariables() []error {
	var errs []error
	for _, k := range slices.Sorted(maps.Keys(t.Env)) {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(t.Env[k], 0) {
			errs = append(errs, Invalid("task.env", "%q must be a name without '=' and a value without NUL", clip.Text(k, maxQuoted)))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.Secrets)) {
		field := "task.secrets." + clip.Text(k, maxQuoted)
		if k == "" || strings.ContainsAny(k, "=\x00") {
			errs = append(errs, Invalid("task.secrets", "%q must be the name of a variable, without '='", clip.Text(k, maxQuoted)))
			continue
		}
		if _, twice := t.Env[k]; twice {
			errs = append(errs, Invalid(field, "is in env too"))
		}
		if strings.HasPrefix(k, variablePrefix) {
			errs = append(errs, Invalid(field, "must not begin with %s, as the variables of the run do", variablePrefix))
		}
		if err := CheckSecretName(field, t.Secrets[k]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// MaxSecret bounds the value of a secret, in bytes.
const MaxSecret = 16 << 10

// CheckSecretName returns an *InvalidError for field unless s can name a secret: 1 to
// 63 letters, digits, '-' and '_', the first a letter or a digit.
func CheckSecretName(field, s string) error {
	ok := s != "" && len(s) <= MaxSlug && s[0] != '-' && s[0] != '_'
	for _, c := range []byte(s) {
		ok = ok && (c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}
	if !ok {
		return Invalid(field, "%q must name a secret: 1 to %d letters, digits, '-' and '_', the first a letter or a digit", clip.Text(s, maxQuoted), MaxSlug)
	}
	return nil
}
