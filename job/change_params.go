package job

import (
	"bytes"
	"encoding/json"
	"maps"
)

// ChangeParams returns parameters with some of their fields changed, and those removed that are to be null. It
// returns false if the parameters are no object. Without any, the fields are all there is.
func ChangeParams(params json.RawMessage, set map[string]json.RawMessage) (json.RawMessage, bool) {
	fields := map[string]json.RawMessage{}
	if len(params) > 0 && json.Unmarshal(params, &fields) != nil || fields == nil {
		return nil, false
	}
	maps.Copy(fields, set)
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool {
		v = bytes.TrimSpace(v)
		return len(v) == 0 || bytes.Equal(v, []byte("null"))
	})
	data, err := json.Marshal(fields)
	return data, err == nil
}
