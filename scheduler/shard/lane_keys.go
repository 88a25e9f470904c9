package shard

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// laneOf returns the lane of a run with this body by an overlap key: "" if its parameters have no value for the key.
func (r *attempt) laneOf(key string, of body) string {
	params := r.given
	if len(params) == 0 {
		var own struct {
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal([]byte(of.text), &own) != nil {
			return ""
		}
		params = own.Params
	}
	if of.inSteps { // whose parameters are shared by all runs; those of other bodies are replaced already
		zone := time.UTC
		if z, err := cron.LoadZone(of.zone); err == nil {
			zone = z.Location()
		}
		if at, err := job.ParamsAt(params, instant(r.fireTime), zone); err == nil {
			params = at
		}
	}
	value, ok := keyValue(key, params)
	if !ok {
		return ""
	}
	sum := sha256.Sum256([]byte(value))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// keyValue returns the value of an overlap key, and false if the parameters have none. A text is the value itself, others
// are their JSON.
func keyValue(key string, params json.RawMessage) (value string, ok bool) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", false
	}
	filled, err := workflow.Fill(text, func(workflow.Reference) (json.RawMessage, error) { return params, nil })
	if err != nil || string(filled) == "null" {
		return "", false
	}
	if json.Unmarshal(filled, &value) == nil {
		return value, true
	}
	return string(filled), true
}
