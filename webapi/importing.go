package webapi

import (
	"cmp"
	"context"

	"carillon/internal/crontab"
)

// ReadCrontab answers POST /import/crontab. The jobs' working directories are left to
// the executors: the homes of this machine's users are not theirs.
func (h *handlers) ReadCrontab(_ context.Context, r ReadCrontabRequestObject) (ReadCrontabResponseObject, error) {
	text := []byte(r.Body.Text)
	o := crontab.Options{Group: cmp.Or(r.Body.Group, "default"), Zone: cmp.Or(r.Body.Zone, "UTC")}
	if r.Body.System != nil {
		o.System = *r.Body.System
	} else {
		o.System = crontab.IsSystem("", text)
	}
	lines, err := crontab.Import(text, o)
	if err != nil {
		return nil, err
	}
	answer := CrontabLines{Items: make([]CrontabLine, 0, len(lines))}
	for _, l := range lines {
		item := CrontabLine{Line: l.Number, Text: l.Text, Outcome: CrontabLineOutcome(l.Outcome), Note: l.Note}
		if l.Outcome == crontab.Imported {
			item.Job = &l.Job
		}
		answer.Items = append(answer.Items, item)
	}
	return ReadCrontab200JSONResponse(answer), nil
}
