package webapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/alerts"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// ListChannels answers GET /alerts/channels.
func (h *alertHandlers) ListChannels(ctx context.Context, _ ListChannelsRequestObject) (*ChannelList, error) {
	channels, err := h.book.Channels(ctx)
	if err != nil {
		return nil, err
	}
	health, err := h.book.Health(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]ChannelItem, len(channels))
	for i := range channels {
		items[i] = channelItem(&channels[i], health)
	}
	return &ChannelList{Items: items}, nil
}

// channelItem returns a channel as the contract has it, with its health among that of all. A change
// reads that first, so that it is not refused when it is already made.
func channelItem(e *alert.Entry[alerting.Channel], health map[string]alerting.Health) ChannelItem {
	return ChannelItem{
		Definition: e.Doc, Secrets: append([]string{}, slices.Sorted(maps.Keys(e.Sealed))...), Missing: append([]string{}, e.Doc.Missing(e.Sealed)...),
		Health: health[e.Doc.Channel], CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Author: e.Author, Revision: e.Revision,
	}
}

// GetChannel answers GET /alerts/channels/{channel}.
func (h *alertHandlers) GetChannel(ctx context.Context, r GetChannelRequestObject) (*answer[ChannelItem], error) {
	if err := job.CheckSlug("channel", r.Channel); err != nil {
		return nil, err
	}
	e, err := h.book.Channel(ctx, r.Channel)
	if err != nil {
		return nil, err
	}
	health, err := h.book.Health(ctx)
	return &answer[ChannelItem]{Body: channelItem(e, health), ETag: etag(e.Revision)}, err
}

// PutChannel answers PUT /alerts/channels/{channel}.
func (h *alertHandlers) PutChannel(ctx context.Context, r PutChannelRequestObject) (*answer[ChannelItem], error) {
	if r.Body.Channel.Channel != r.Channel {
		return nil, job.Invalid("channel", "%q must be %q, as in the path", r.Body.Channel.Channel, r.Channel)
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	health, err := h.book.Health(ctx)
	if err != nil {
		return nil, err
	}
	was, now, changed, err := h.book.PutChannel(ctx, *r.Body, edit)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	var before any
	if was != nil {
		before = withoutHeaders(was.Doc)
	}
	if err := auditlog.Describe(ctx, changed, "", before, withoutHeaders(now.Doc)); err != nil {
		return nil, err
	}
	return &answer[ChannelItem]{Body: channelItem(now, health), ETag: etag(now.Revision)}, nil
}

// withoutHeaders returns a channel for the audit log: the values of headers may be
// passwords.
func withoutHeaders(c alerting.Channel) alerting.Channel {
	c.Headers = access.HiddenValues(c.Headers)
	return c
}

// DeleteChannel answers DELETE /alerts/channels/{channel}.
func (h *alertHandlers) DeleteChannel(ctx context.Context, r DeleteChannelRequestObject) (*none, error) {
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err == nil {
		err = job.CheckSlug("channel", r.Channel)
	}
	if err != nil {
		return nil, err
	}
	if err := h.book.DeleteChannel(ctx, r.Channel, edit); err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return &none{}, nil
}

// PutChannelSecret answers PUT /alerts/channels/{channel}/secrets/{secret}.
func (h *alertHandlers) PutChannelSecret(ctx context.Context, r PutChannelSecretRequestObject) (*ChannelItem, error) {
	switch {
	case h.master == nil:
		return nil, problem.Explain(fmt.Errorf("%w: set secret %s of channel %s", job.ErrConflict, r.Secret, r.Channel),
			"this server has no key for secrets; make one with \"carillon secret keygen\", and start the servers with --master-key FILE")
	case r.Body.Value == "":
		return nil, job.Invalid("value", "is empty; delete the secret instead")
	}
	health, err := h.book.Health(ctx)
	if err != nil {
		return nil, err
	}
	e, err := h.setChannelSecret(ctx, r.Channel, r.Secret, r.Body.Value)
	if err != nil {
		return nil, err
	}
	return new(channelItem(e, health)), nil
}

// DeleteChannelSecret answers DELETE /alerts/channels/{channel}/secrets/{secret}.
func (h *alertHandlers) DeleteChannelSecret(ctx context.Context, r DeleteChannelSecretRequestObject) (*none, error) {
	if _, err := h.setChannelSecret(ctx, r.Channel, r.Secret, ""); err != nil {
		return nil, err
	}
	return &none{}, nil
}

func (h *alertHandlers) setChannelSecret(ctx context.Context, channel, name, value string) (*alert.Entry[alerting.Channel], error) {
	if err := job.CheckSlug("channel", channel); err != nil {
		return nil, err
	}
	return h.book.SetSecret(ctx, h.master, channel, name, value, cluster.Edit{At: time.Now(), Author: access.Author(ctx)})
}

// testWait is how long the answer to a test waits for the outcome.
const testWait = 20 * time.Second

// TestChannel answers POST /alerts/channels/{channel}/test.
func (h *alertHandlers) TestChannel(ctx context.Context, r TestChannelRequestObject) (*Incident, error) {
	if err := job.CheckSlug("channel", r.Channel); err != nil {
		return nil, err
	}
	inc, err := h.book.Test(ctx, r.Channel, access.Author(ctx))
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, testWait, errors.New("the test has no outcome yet"))
	defer cancel()
	if done, err := h.book.Tested(waiting, inc.ID); err == nil {
		inc = done
	} else if waiting.Err() == nil {
		return nil, err
	}
	return new(alerts.Shown(inc)), nil
}
