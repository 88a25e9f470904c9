package bus

import (
	"context"
	"errors"
	"fmt"

	"carillon/job"
)

// provideScript makes sure that the group has the script of j, before a version of the
// job that needs it can be read by anybody.
func (c *Conn) provideScript(ctx context.Context, j job.Job) error {
	s := j.Task.Script
	if s == nil {
		return nil
	}
	group := j.Job.Group()
	digest := s.Digest
	if s.Source != "" {
		digest = job.DigestOf(s.Source)
	}
	_, err := c.Last(ctx, "KV_"+BucketScript, subjectScript(group, digest))
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNoMessage):
		return err
	case s.Source == "":
		return &job.InvalidError{Field: "task.script.digest", Reason: fmt.Sprintf("%q names no script that group %s has; give its source", digest, group)}
	}
	kv, err := c.kv(ctx, BucketScript)
	if err != nil {
		return err
	}
	if _, err := kv.Put(ctx, group+"."+digest, []byte(s.Source)); err != nil {
		return fmt.Errorf("write script of job %s: %w", j.Job, Unavailable(err))
	}
	return nil
}

// Script returns the text of a script of a group. It needs no more than the
// permissions of one of the group's executors. Errors: job.ErrNotFound, job.ErrUnavailable,
// job.ErrInvalid when what is stored has another digest.
func (c *Conn) Script(ctx context.Context, group, digest string) (string, error) {
	m, err := c.direct(ctx, "KV_"+BucketScript, subjectScript(group, digest))
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

func subjectScript(group, digest string) string {
	return "$KV." + BucketScript + "." + group + "." + digest
}
