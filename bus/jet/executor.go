package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// StandingClaim returns the claim on t's attempt. The caller knows that it was stored,
// so [ErrNoMessage] means that a replica answered that lags behind. It needs an
// executor's permissions only.
func StandingClaim(ctx context.Context, c *Conn, t *bus.Trigger) (*bus.Claim, error) {
	m, err := c.Direct(ctx, "KV_"+bus.BucketClaim, bus.SubjectClaim(t))
	if err != nil {
		return nil, err
	}
	return bus.DecodeClaim(m.Subject, m.Data)
}

// StandingHeartbeat returns the heartbeat that is stored under an instance's name, nil if
// the last instance of that name has left, and its sequence. It reads as an executor may, and
// a replica that lags behind may answer. The error is [ErrNoMessage] when there is none.
func StandingHeartbeat(ctx context.Context, c *Conn, group, instance string) (*bus.Heartbeat, uint64, error) {
	s, err := c.DirectOnce(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, instance))
	if err != nil {
		return nil, 0, err
	}
	h, err := HeartbeatOf(s)
	if errors.Is(err, job.ErrNotFound) {
		return nil, s.Seq, nil
	}
	return h, s.Seq, err
}

// StoredHeartbeat returns the heartbeat of an instance that stands, and when it was stored; nil if the
// instance has left. A replica that lags behind may answer with an older one. It needs no more than the
// permissions of an executor. Errors: [ErrNoMessage], and those of the connection.
func StoredHeartbeat(ctx context.Context, c *Conn, group, instance string) (*bus.Heartbeat, time.Time, error) {
	s, err := c.DirectOnce(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, instance))
	if err != nil {
		return nil, time.Time{}, err
	}
	h, err := HeartbeatOf(s)
	if errors.Is(err, job.ErrNotFound) {
		return nil, s.At, nil
	}
	return h, s.At, err
}

// HeartbeatOf reads the heartbeat in s. The error is [job.ErrNotFound] when the instance
// has left.
func HeartbeatOf(s *Stored) (*bus.Heartbeat, error) {
	key := strings.TrimPrefix(s.Subject, bus.SubjectHeartbeats)
	if s.Header.Get("KV-Operation") != "" {
		return nil, fmt.Errorf("%w: instance %s has left", job.ErrNotFound, key)
	}
	return bus.ParseHeartbeat(key, s.Data)
}

// Script returns the text of a script of a group. It needs no more than the
// permissions of one of the group's executors. Errors: job.ErrNotFound, job.ErrUnavailable,
// job.ErrInvalid when what is stored has another digest.
func (c *Conn) Script(ctx context.Context, group, digest string) (string, error) {
	m, err := c.Direct(ctx, "KV_"+bus.BucketScript, bus.SubjectScript(group, digest))
	if errors.Is(err, ErrNoMessage) {
		return "", fmt.Errorf("%w: script %s of group %s", job.ErrNotFound, digest, group)
	}
	if err != nil {
		return "", err
	}
	if got := job.DigestOf(string(m.Data)); got != digest {
		return "", &job.InvalidError{Field: "script", Reason: fmt.Sprintf("%s of group %s has the digest %s: somebody has written past the API", digest, group, got)}
	}
	return string(m.Data), nil
}

// Secret returns a secret. It needs no more than the permissions of one of the group's
// executors. Errors: job.ErrNotFound, job.ErrUnavailable.
func (c *Conn) Secret(ctx context.Context, group, name string) (*bus.Secret, error) {
	m, err := c.Direct(ctx, "KV_"+bus.BucketSecret, "$KV."+bus.BucketSecret+"."+group+"."+name)
	if errors.Is(err, ErrNoMessage) {
		return nil, fmt.Errorf("%w: secret %s of group %s", job.ErrNotFound, name, group)
	}
	if err != nil {
		return nil, err
	}
	s := &bus.Secret{}
	if err := json.Unmarshal(m.Data, s); err != nil {
		return nil, &job.InvalidError{Field: "secret", Reason: fmt.Sprintf("%s of group %s is damaged: %v", name, group, err)}
	}
	return s, nil
}
