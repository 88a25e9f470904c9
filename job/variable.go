package job

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// variablePrefix begins the names of the variables that every run has.
const variablePrefix = "CARILLON_"

// Variables lists the variables that every run has: scripts and programs find them in
// their environment, and an HTTP task's texts may name them.
var Variables = []string{
	"CARILLON_RUN_ID", "CARILLON_JOB", "CARILLON_GROUP", "CARILLON_VERSION", "CARILLON_CAUSE", "CARILLON_FIRE_TIME",
	"CARILLON_ATTEMPT", "CARILLON_DELIVERY", "CARILLON_FENCE", "CARILLON_PARAMS", "CARILLON_INSTANCE", "CARILLON_PARENT_RUN_ID",
	"CARILLON_BROADCAST_INDEX", "CARILLON_BROADCAST_TOTAL", "CARILLON_ITEM", "CARILLON_SPLIT",
}

// paramsVariable begins the name of a field of the run's parameters.
const paramsVariable = "params."

// Expand returns text with every ${NAME} replaced by what value says for NAME; $${ is
// a ${ that stays. The error is value's first one, or says that a ${ has no end.
func Expand(text string, value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(before[:len(before)-1] + "${")
			text = after
			continue
		}
		name, rest, found := strings.Cut(after, "}")
		if !found {
			return "", Invalid("", "has ${ without }; write $${ for the characters themselves")
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(before + v)
		text = rest
	}
}

// checkVariable returns an error unless the task's texts may name the variable.
func (t Task) checkVariable(name string) error {
	_, env := t.Env[name]
	_, secret := t.Secrets[name]
	if namesFireTime(name) { // checkFireTime looks at its steps
		return nil
	}
	if env || secret || slices.Contains(Variables, name) || strings.HasPrefix(name, paramsVariable) && len(name) > len(paramsVariable) {
		return nil
	}
	return Invalid("", "names ${%s}, which is neither in env nor in secrets, nor params.FIELD, nor fire_time, nor one of %s", clip.Text(name, maxQuoted), strings.Join(Variables, ", "))
}
