package bus

import "github.com/carillon-scheduler/carillon/job"

// VerbKey is the verb of a [KeyRequest], which is answered with a [KeyReply].
const VerbKey = "key"

// KeyRequest asks the owner of a job's shard for the run that stands for a key.
type KeyRequest struct {
	Job job.Name `json:"job"`
	Key string   `json:"key"`
}

// KeyReply names the run that stands for a key.
type KeyReply struct {
	RunID job.RunID `json:"run_id"`
}
