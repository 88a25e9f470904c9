package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// SubjectBridge returns the subject on which a bridge asks servers for a group's entries of bucket
// XXLJOB. It cannot scan the bucket itself: the right to read part of a stream is the right to read all.
func SubjectBridge(group string) string { return "bridge." + group }

// BridgeScan requests entries of bucket XXLJOB of the group in the subject.
type BridgeScan struct {
	// Filter is a subject filter for keys without their group, such as fleet.> or given-up.*.7.
	Filter string `json:"filter"`
	// From is the lowest stream sequence to return.
	From uint64 `json:"from"`
}

// DecodeBridgeScan reads a scan. The error is an *InvalidError.
func DecodeBridgeScan(data []byte) (BridgeScan, error) {
	var s BridgeScan
	if err := json.Unmarshal(data, &s); err != nil {
		return s, job.Invalid("scan", "is damaged: %v", err)
	}
	for token := range strings.SplitSeq(s.Filter, ".") {
		if token == "" || strings.ContainsAny(token, " \t\r\n\x00") {
			return s, job.Invalid("filter", "%q is not valid", s.Filter)
		}
	}
	return s, nil
}

// BridgeEntry is an entry of bucket XXLJOB.
type BridgeEntry struct {
	Key      string          `json:"key"` // without the group
	Sequence uint64          `json:"sequence"`
	Removed  bool            `json:"removed,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// BridgePage answers a [BridgeScan], with the oldest entries first.
type BridgePage struct {
	Entries []BridgeEntry `json:"entries"`
	// More means that further entries follow, from sequence Next on.
	More bool   `json:"more,omitempty"`
	Next uint64 `json:"next,omitempty"`
	// Error is the reason of a refusal; then there are no entries.
	Error string `json:"error,omitempty"`
}

// DecodeBridgePage reads a page.
func DecodeBridgePage(data []byte) (*BridgePage, error) {
	p := &BridgePage{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode entries of the bridge: %w", err)
	}
	if p.Error != "" {
		return nil, errors.New(p.Error)
	}
	return p, nil
}
