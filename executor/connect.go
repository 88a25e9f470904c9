package executor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// Options say how an executor behaves and where NATS is. What is not set is read from the
// environment, from the variables that "carillon executor" reads: CARILLON_GROUP,
// CARILLON_INSTANCE, CARILLON_SLOTS, CARILLON_LABEL (KEY=VALUE, separated by semicolons),
// CARILLON_GRACE, CARILLON_SPOOL, CARILLON_SPOOL_BYTES, CARILLON_MAX_LOG_LINES,
// CARILLON_MAX_LOG_BYTES, and CARILLON_SECRET_KEY or CARILLON_SECRET_KEY_FILE.
type Options struct {
	Config

	// URL lists the NATS servers, separated by commas. Defaults to CARILLON_NATS, else
	// nats://127.0.0.1:4222.
	URL string
	// CredentialFile is the file that "carillon credential create" writes. Defaults to
	// CARILLON_CREDENTIAL_FILE. Without one, CARILLON_CREDENTIAL has the seed itself; it is
	// removed from the environment, so that no child process has it. Without either, the executor
	// connects without a credential, as it may to "carillon dev".
	CredentialFile string
	// CAFile has the certificate authorities for NATS, CertFile and KeyFile a client certificate.
	// They default to CARILLON_NATS_CA, CARILLON_NATS_CERT and CARILLON_NATS_KEY, and without
	// those to the system's authorities and no certificate.
	CAFile, CertFile, KeyFile string
}

// Connect returns an executor with a connection of its own, which Run closes at its end. It waits
// for NATS, without limit, until ctx is done. The error holds an *job.InvalidError for each wrong
// option or variable.
func Connect(ctx context.Context, o Options) (*Executor, error) {
	if err := o.readEnvironment(); err != nil {
		return nil, fmt.Errorf("configure executor: %w", err)
	}
	if err := job.CheckSlug("executor_group", o.Group); err != nil {
		return nil, fmt.Errorf("configure executor: %w; set it in Options or in CARILLON_GROUP", err)
	}
	seed, err := readKey(o.CredentialFile, "CARILLON_CREDENTIAL")
	if err != nil {
		return nil, fmt.Errorf("configure executor: %w", err)
	}
	e, err := configure(o.Config)
	if err != nil {
		return nil, fmt.Errorf("configure executor: %w", err)
	}
	conn, err := jet.Await(ctx, jet.Config{
		URL: o.URL, Key: seed, Inbox: bus.ExecutorInbox(o.Group), CAFile: o.CAFile, CertFile: o.CertFile, KeyFile: o.KeyFile,
		Name: "carillon executor " + o.Group, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("connect executor: %w", err)
	}
	if err := e.use(conn); err != nil {
		conn.NC.Close()
		return nil, err
	}
	e.ownsConn = true
	return e, nil
}

// readEnvironment fills what is not set.
func (o *Options) readEnvironment() error {
	var errs []error
	text := func(field *string, name string) { *field = cmp.Or(*field, os.Getenv("CARILLON_"+name)) }
	parse := func(set bool, name string, read func(text string) error) {
		value := os.Getenv("CARILLON_" + name)
		if set || value == "" {
			return
		}
		if err := read(value); err != nil {
			errs = append(errs, &job.InvalidError{Field: "CARILLON_" + name, Reason: err.Error()})
		}
	}
	number := func(field *int, name string) {
		parse(*field != 0, name, func(text string) error { return readInt(text, field) })
	}
	text(&o.URL, "NATS")
	o.URL = cmp.Or(o.URL, "nats://127.0.0.1:4222")
	text(&o.CAFile, "NATS_CA")
	text(&o.CertFile, "NATS_CERT")
	text(&o.KeyFile, "NATS_KEY")
	text(&o.CredentialFile, "CREDENTIAL_FILE")
	text(&o.Group, "GROUP")
	text(&o.Instance, "INSTANCE")
	text(&o.Spool, "SPOOL")
	number(&o.Slots, "SLOTS")
	number(&o.MaxLogLines, "MAX_LOG_LINES")
	number(&o.MaxLogBytes, "MAX_LOG_BYTES")
	parse(o.SpoolBytes != 0, "SPOOL_BYTES", func(text string) (err error) {
		var n int
		err = readInt(text, &n)
		o.SpoolBytes = int64(n)
		return err
	})
	parse(o.Grace != 0, "GRACE", func(text string) (err error) {
		if o.Grace, err = time.ParseDuration(text); err != nil {
			err = fmt.Errorf("%q must be a duration such as 30s", text)
		}
		return err
	})
	parse(o.Labels != nil, "LABEL", func(text string) (err error) {
		o.Labels, err = job.ParseLabels(strings.Split(text, ";"))
		return err
	})
	if o.SecretKey == "" {
		key, err := readKey(os.Getenv("CARILLON_SECRET_KEY_FILE"), "CARILLON_SECRET_KEY")
		if err != nil {
			errs = append(errs, err)
		}
		o.SecretKey = strings.TrimSpace(key)
	}
	return errors.Join(errs...)
}

// readKey reads a key from a file, or from a variable if none is named. It removes the variable from
// the environment, which child processes get.
func readKey(file, variable string) (string, error) {
	if file == "" {
		text := os.Getenv(variable)
		return text, os.Unsetenv(variable)
	}
	invalid := func(reason string) error {
		return &job.InvalidError{Field: variable + "_FILE", Reason: fmt.Sprintf("%q %s", file, reason)}
	}
	data, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
	if err != nil {
		return "", invalid("cannot be read: " + errors.Unwrap(err).Error())
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", invalid("is empty: it must have a key")
	}
	return string(data), nil
}

func readInt(text string, into *int) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%q must be a whole number", text)
	}
	*into = n
	return nil
}
