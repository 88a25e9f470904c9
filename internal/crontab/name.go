package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// names gives each job of a crontab a name of its own. The same command gets the same
// name at each import.
type names struct {
	line map[string]int // of each name that is taken; 0 when it was derived
}

func newNames() *names { return &names{line: map[string]int{}} }

// claim takes a name that somebody chose. It returns the line that has it already.
func (n *names) claim(name string, line int) (other int, taken bool) {
	if other, taken = n.line[name]; !taken {
		n.line[name] = line
	}
	return other, taken
}

// derive takes a name made from what the entry runs. It depends neither on other lines nor on the time: what
// the command says more than the plain name becomes a hash. Of lines that run the same, the second gets -2.
func (n *names) derive(e entry) string {
	plain := slugOf(e.command)
	if strings.ReplaceAll(e.command, " ", "-") != plain || e.stdin != "" {
		sum := sha256.Sum256([]byte(e.user + "\x00" + e.command + "\x00" + e.stdin))
		plain += "-" + hex.EncodeToString(sum[:3])
	}
	name := plain
	for again := 2; ; again++ {
		if _, taken := n.line[name]; !taken {
			n.line[name] = 0
			return name
		}
		name = plain + "-" + strconv.Itoa(again)
	}
}

// maxPlain leaves room in a slug for the hash.
const maxPlain = 40

// Programs that say little about what a line is for.
var (
	// prelude comes before the command proper: the next one counts.
	prelude = []string{"cd", "test", "[", "[[", "export", "set", "umask", ".", "source", "sleep", "true", ":", "for", "case", "fi", "done", "esac"}
	// keywords of the shell come right before a command.
	keywords = []string{"if", "then", "elif", "else", "while", "until", "do", "!", `\!`}
	// wrappers and interpreters have the program proper among their arguments.
	wrappers     = []string{"nice", "ionice", "env", "sudo", "chronic", "cronic", "timeout", "flock", "setsid", "nohup", "time", "exec", "command", "stdbuf", "systemd-cat"}
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "python", "python2", "python3", "perl", "php", "ruby", "node"}
	// extensions of scripts say how a program is run, not what it does.
	extensions = []string{".sh", ".bash", ".py", ".pl", ".php", ".rb", ".js"}
)

var (
	substitute = regexp.MustCompile(`\$\([^()]*\)`)
	inlineCode = regexp.MustCompile(`(\s-[eEr])\s+(?:'[^']*'|"[^"]*")`) // of perl -e, php -r
	operators  = regexp.MustCompile(`&&|\|\||[;|(){}&]`)
	redirected = regexp.MustCompile(`[0-9]*[<>]+&?[0-9-]*\s*[^\s;|&]*`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	amount     = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
	plainWord  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_:-]*$`)
)

// slugOf returns a slug that tells what a command does: its program's name, and the
// word after it if that is a plain one, as in "certbot-renew".
func slugOf(command string) string {
	for before := ""; before != command; { // from the innermost substitution outwards
		before, command = command, substitute.ReplaceAllString(command, " ")
	}
	command = inlineCode.ReplaceAllString(command, "$1")
	command = redirected.ReplaceAllString(command, " ")
	for _, simple := range operators.Split(command, -1) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", "`", " ").Replace(simple))
		if name := nameOf(words); name != "" {
			return name
		}
	}
	return "job"
}

func nameOf(words []string) string {
	for len(words) > 0 {
		program := path.Base(words[0])
		switch {
		case slices.Contains(prelude, program):
			return ""
		case slices.Contains(keywords, program):
			words = words[1:]
		case assignment.MatchString(words[0]), amount.MatchString(words[0]), strings.HasPrefix(words[0], "-"):
			words = words[1:]
		case program == "flock":
			words = afterLock(words[1:])
		case slices.Contains(wrappers, program), len(words) > 1 && slices.Contains(interpreters, program):
			words = words[1:]
		default:
			return slug(program, words[1:])
		}
	}
	return ""
}

// afterLock passes over flock's options and its lock file.
func afterLock(words []string) []string {
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || amount.MatchString(words[0])) {
		words = words[1:]
	}
	return words[min(1, len(words)):]
}

func slug(program string, args []string) string {
	name := program
	if ext := path.Ext(program); slices.Contains(extensions, ext) {
		name = strings.TrimSuffix(program, ext)
	}
	if len(args) > 0 && program == "run-parts" {
		args = args[len(args)-1:]
		args[0] = strings.TrimPrefix(path.Base(args[0]), ".")
		name += "-" + args[0]
	} else if len(args) > 0 && plainWord.MatchString(args[0]) {
		name += "-" + args[0]
	}
	return job.Slug(name, maxPlain)
}
