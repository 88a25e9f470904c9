package bus

import (
	"fmt"
	"regexp"

	"github.com/carillon-scheduler/carillon/job"
)

// Consumer names a durable consumer of a stream of triggers.
type Consumer struct {
	Stream   string `json:"stream"`
	Consumer string `json:"consumer"`
}

// ConsumersOf returns where the executors of a group pull until a server tells them otherwise.
func ConsumersOf(group string) []Consumer {
	return []Consumer{{StreamTrig, ConsumerAny(group)}}
}

// MaxConsumers is how many consumers an executor pulls from at most.
const MaxConsumers = 64

// ConsumersRequest is the body of a [VerbConsumers] request. The list replaces the one before.
type ConsumersRequest struct {
	Consumers []Consumer `json:"consumers"`
}

// consumerName is what may be in a subject of JetStream's API as one token.
var consumerName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Validate reports what is wrong with r as an *InvalidError.
func (r ConsumersRequest) Validate() error {
	if n := len(r.Consumers); n == 0 || n > MaxConsumers {
		return job.Invalid("consumers", "must have between 1 and %d entries", MaxConsumers)
	}
	seen := map[Consumer]bool{}
	for i, c := range r.Consumers {
		switch {
		case !consumerName.MatchString(c.Stream):
			return job.Invalid(fmt.Sprintf("consumers[%d].stream", i), "%q is not valid", c.Stream)
		case !consumerName.MatchString(c.Consumer):
			return job.Invalid(fmt.Sprintf("consumers[%d].consumer", i), "%q is not valid", c.Consumer)
		case seen[c]:
			return job.Invalid(fmt.Sprintf("consumers[%d]", i), "is given twice")
		}
		seen[c] = true
	}
	return nil
}
