package alerting

import "time"

// Health says whether messages get through to a channel.
type Health struct {
	SentAt time.Time `json:"sent_at,omitzero"` // when the last one got through
	// Failures are attempts in a row that failed, since then. The rest is about the last of them.
	Failures     int       `json:"failures"`
	TriedAt      time.Time `json:"tried_at,omitzero"`
	Reason       string    `json:"reason,omitempty"`
	ReasonCode   Code      `json:"reason_code,omitempty"`
	ReasonParams Params    `json:"reason_params,omitempty"`
	Answer       *Answer   `json:"answer,omitempty"`
}

// HealthOf returns the health of each channel to which incidents have a message that was tried.
func HealthOf(incidents []Incident) map[string]Health {
	all := map[string]Health{}
	for d := range tried(incidents) {
		if h := all[d.Channel]; d.SentAt.After(h.SentAt) {
			h.SentAt = d.SentAt
			all[d.Channel] = h
		}
	}
	for d := range tried(incidents) {
		h := all[d.Channel]
		if d.State == Sent || !d.TriedAt.After(h.SentAt) {
			continue
		}
		h.Failures += d.ended()
		if d.TriedAt.After(h.TriedAt) {
			h.TriedAt, h.Answer = d.TriedAt, d.Answer
			h.Reason, h.ReasonCode, h.ReasonParams = d.Reason, d.ReasonCode, d.ReasonParams
		}
		all[d.Channel] = h
	}
	return all
}

// tried yields the deliveries with at least one finished attempt.
func tried(incidents []Incident) func(yield func(*Delivery) bool) {
	return func(yield func(*Delivery) bool) {
		for i := range incidents {
			for j := range incidents[i].Deliveries {
				if d := &incidents[i].Deliveries[j]; !d.TriedAt.IsZero() && !yield(d) {
					return
				}
			}
		}
	}
}

// ended returns how many attempts have ended: one that is claimed is on its way.
func (d *Delivery) ended() int {
	if d.Claim != 0 {
		return d.Attempts - 1
	}
	return d.Attempts
}
