package webapi

import (
	"encoding/json"
	"fmt"

	"carillon/job"
)

// canonical returns j as reading it back from the bucket would: without the white
// space of params, and with nothing for what is empty. Only so an equal document is
// known to be equal.
func canonical(j job.Job) (job.Job, error) {
	data, err := json.Marshal(j.WithDefaults())
	if err != nil {
		return j, fmt.Errorf("encode job %s: %w", j.Job, err)
	}
	return job.Decode(data)
}
