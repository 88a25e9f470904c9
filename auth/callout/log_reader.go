package callout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// LogReader is a program outside Carillon that reads all log lines, by a consumer of LOG that somebody
// creates for it.
type LogReader struct {
	Consumer string // its name
	Key      string // the public half of the reader's key
}

// LogDomain is the JetStream domain under which readers of logs see the streams: NATS itself answers what an
// account without streams asks of JetStream without a domain.
const LogDomain = "carillon"

// The lines of nats.conf before and after which [AdmitLogReaders] writes.
const (
	lastExport = "      {service: \"log.*.*\", accounts: [EXECUTORS]}\n"
	beforeSys  = "  SYS {\n"
)

// AdmitLogReaders returns a configuration that [Configure] has made with readers of logs, who may do nothing
// but read by their consumers. They have an account of their own, because in the account of the streams a
// client may have an answer sent to any subject, and so into a stream. The error is job.ErrInvalid.
func AdmitLogReaders(conf string, readers []LogReader) (string, error) {
	if len(readers) == 0 {
		return conf, nil
	}
	var exports, imports, users strings.Builder
	var taken []string
	for _, r := range readers {
		if err := job.CheckSlug("log-reader", r.Consumer); err != nil {
			return "", err
		}
		if r.Consumer == bus.ConsumerLogs || slices.Contains(taken, r.Consumer) || strings.Contains(conf, r.Key) || slices.Contains(taken, r.Key) {
			return "", &job.InvalidError{Field: "log-reader", Reason: "needs a name and a key of its own; create one for each with \"carillon nats keygen --log-reader\""}
		}
		taken = append(taken, r.Consumer, r.Key)
		info, next, ack := "API.CONSUMER.INFO.LOG."+r.Consumer, "API.CONSUMER.MSG.NEXT.LOG."+r.Consumer, "$JS.ACK.LOG."+r.Consumer+".>"
		fmt.Fprintf(&exports, `      {service: "$JS.%s", accounts: [READERS]}
      {service: "$JS.%s", response_type: stream, accounts: [READERS]}
      {service: "%s", accounts: [READERS]}
`, info, next, ack)
		fmt.Fprintf(&imports, `      {service: {account: CARILLON, subject: "$JS.%[1]s"}, to: "$JS.%[4]s.%[1]s"}
      {service: {account: CARILLON, subject: "$JS.%[2]s"}, to: "$JS.%[4]s.%[2]s"}
      {service: {account: CARILLON, subject: "%[3]s"}}
`, info, next, ack, LogDomain)
		fmt.Fprintf(&users, `      {nkey: %[1]s, permissions {publish: ["$JS.%[5]s.%[2]s", "$JS.%[5]s.%[3]s", "%[4]s"], subscribe: ["_INBOX.>"]}}
`, r.Key, info, next, ack, LogDomain)
	}
	account := fmt.Sprintf("  # Programs that read log lines, each by a consumer of its own, and may do nothing else.\n"+
		"  READERS {\n    users: [\n%s    ]\n    imports: [\n%s    ]\n  }\n", &users, &imports)
	for _, at := range []struct{ line, text string }{{lastExport, lastExport + exports.String()}, {beforeSys, account + beforeSys}} {
		if strings.Count(conf, at.line) != 1 {
			return "", fmt.Errorf("%w: the configuration must have the line %q once", job.ErrInvalid, strings.TrimSpace(at.line))
		}
		conf = strings.Replace(conf, at.line, at.text, 1)
	}
	return conf, nil
}
