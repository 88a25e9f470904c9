package webapi

import (
	"context"
	"strconv"
	"strings"

	"carillon/bus/cluster"
)

// ListDeadLetters answers GET /dead-letters.
func (h *handlers) ListDeadLetters(ctx context.Context, r ListDeadLettersRequestObject) (ListDeadLettersResponseObject, error) {
	limit := orDefault(r.Params.Limit, pageSize)
	var before uint64
	if r.Params.Cursor != "" {
		var err error
		if before, err = strconv.ParseUint(r.Params.Cursor, 10, 64); err != nil || before == 0 {
			return nil, invalid("cursor", "is none that this list gave")
		}
	}
	found, err := h.conn.DeadLetters(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	total, err := h.conn.CountDeadLetters(ctx)
	if err != nil {
		return nil, err
	}
	page := DeadLetterPage{Items: []DeadLetter{}, Total: total}
	for i := range found {
		page.Items = append(page.Items, found[i].DeadLetter)
	}
	if len(found) == limit {
		page.Next = strconv.FormatUint(found[limit-1].Sequence, 10)
	}
	return ListDeadLetters200JSONResponse(page), nil
}

// GetDeadLetter answers GET /dead-letters/{sequence}.
func (h *handlers) GetDeadLetter(ctx context.Context, r GetDeadLetterRequestObject) (GetDeadLetterResponseObject, error) {
	l, err := h.conn.GetDeadLetter(ctx, r.Sequence)
	if err != nil {
		return nil, err
	}
	return GetDeadLetter200JSONResponse(DeadLetterContent{
		Sequence: l.Sequence, At: l.At, Stream: l.Stream, Subject: l.Subject, Message: l.Message, Reason: l.Reason, Size: l.Size, Whole: l.Whole,
		Text: strings.ToValidUTF8(string(l.Data), "\uFFFD"),
	}), nil
}

// DeleteDeadLetter answers DELETE /dead-letters/{sequence}.
func (h *handlers) DeleteDeadLetter(ctx context.Context, r DeleteDeadLetterRequestObject) (DeleteDeadLetterResponseObject, error) {
	if _, err := h.letterToChange(ctx, r.Sequence); err != nil {
		return nil, err
	}
	return DeleteDeadLetter204Response{}, h.conn.DeleteDeadLetter(ctx, r.Sequence)
}

// ReplayDeadLetter answers POST /dead-letters/{sequence}/replay.
func (h *handlers) ReplayDeadLetter(ctx context.Context, r ReplayDeadLetterRequestObject) (ReplayDeadLetterResponseObject, error) {
	l, err := h.letterToChange(ctx, r.Sequence)
	if err != nil {
		return nil, err
	}
	return ReplayDeadLetter204Response{}, h.conn.ReplayDeadLetter(ctx, l)
}

// letterToChange returns a letter, and has the audit log say what it was.
func (h *handlers) letterToChange(ctx context.Context, seq uint64) (*cluster.DeadLetter, error) {
	l, err := h.conn.GetDeadLetter(ctx, seq)
	if err != nil {
		return nil, err
	}
	entryOfChange(ctx).Note = l.Stream + " " + l.Subject + ": " + l.Reason
	return l, nil
}
