package state

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// BlockSize is how many log ids an instance is given at once, and BlockFor for how long it may give them
// to runs. The owner of a block is stored for [keptFor] longer, as its last run is.
const (
	BlockSize = 100
	BlockFor  = 31 * 24 * time.Hour
)

// Block says whose log ids those of a block are.
type Block struct {
	Group    string `json:"group"`
	Instance string `json:"instance"`
}

// Log ids have 53 bits, so that executors in JavaScript read them: the upper ones tell the group, and
// logIDs are for each group.
const (
	logIDs    = 1 << 32
	logGroups = 1 << 20
)

// FirstLogID returns a number that is at most all log ids of a group. No log id of XXL-JOB's admin is as
// great. Two groups may have one first number, but that is one chance in a million.
func FirstLogID(group string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(group)) // never fails
	return int64(1+h.Sum64()%logGroups) * logIDs
}

// MayHaveLogID reports whether a log id may be one of the group.
func MayHaveLogID(group string, logID int64) bool { return logID/logIDs == FirstLogID(group)/logIDs }

func blockKey(group string, n int64) string {
	return keyOf(group, "block."+strconv.FormatInt(n, 10))
}

// TakeBlock reserves [BlockSize] unused log ids for an instance, from first on, for [BlockFor].
func (s *Store) TakeBlock(ctx context.Context, b Block) (first int64, err error) {
	least := FirstLogID(b.Group)
	n, err := s.next(ctx, keyOf(b.Group, "next.log"), 1, (least+BlockSize-1)/BlockSize)
	if err != nil {
		return 0, err
	}
	if first = n * BlockSize; !MayHaveLogID(b.Group, first+BlockSize-1) {
		return 0, fmt.Errorf("%w: group %s has no log ids left; its counter next.log is at %d", job.ErrUnavailable, b.Group, n)
	}
	_, err = s.put(ctx, blockKey(b.Group, n), b, BlockFor+keptFor, condition{revision: anyRevision})
	return first, err
}

// BlockOf returns whose a log id of a group is. The error is job.ErrNotFound if it was given to nobody.
func (s *Store) BlockOf(ctx context.Context, group string, logID int64) (Block, error) {
	var b Block
	_, err := s.get(ctx, blockKey(group, logID/BlockSize), &b)
	if err == nil && b.Group != group {
		err = fmt.Errorf("%w: log id %d in group %s", job.ErrNotFound, logID, group)
	}
	return b, err
}

// GroupOfBlock returns the group of a log id. A store for all groups returns any group with that id. The
// error is job.ErrNotFound if there is none. A lagging replica may answer.
func (s *Store) GroupOfBlock(ctx context.Context, logID int64) (string, error) {
	group := ""
	if len(s.groups) == 0 {
		err := s.scan(ctx, all, "block."+strconv.FormatInt(logID/BlockSize, 10), 1, func(e entry) {
			if MayHaveLogID(e.group, logID) {
				group = e.group
			}
		})
		if err != nil {
			return "", err
		}
	}
	if group == "" {
		return "", fmt.Errorf("%w: log id %d", job.ErrNotFound, logID)
	}
	return group, nil
}

// next moves a counter on by n, to at least least + n - 1, and returns the first of the n values that
// are the caller's. Values may be left out.
func (s *Store) next(ctx context.Context, key string, n, least int64) (int64, error) {
	for {
		var last int64
		revision, err := s.now(ctx, key, &last)
		if err != nil && !errors.Is(err, job.ErrNotFound) {
			return 0, err
		}
		first := max(last+1, least)
		_, err = s.put(ctx, key, first+n-1, 0, condition{revision: int64(revision)}) //nolint:gosec // a sequence
		if !errors.Is(err, job.ErrConflict) {
			return first, err
		}
	}
}

func jobKey(name job.Name) string { return keyOf(name.Group(), "job."+name.Short()) }

func numberKey(group string, id int32) string {
	return keyOf(group, "number."+strconv.FormatInt(int64(id), 10))
}

// JobID returns the number of a job that has one. The error is job.ErrNotFound if it has none.
func (s *Store) JobID(ctx context.Context, name job.Name) (int32, error) {
	var id int32
	_, err := s.now(ctx, jobKey(name), &id)
	return id, err
}

// JobOf returns a group's job by its number. The error is job.ErrNotFound if no job has that number.
func (s *Store) JobOf(ctx context.Context, group string, id int32) (job.Name, error) {
	var name job.Name
	_, err := s.now(ctx, numberKey(group, id), &name)
	return name, err
}

// TakeJobIDs reserves n consecutive job numbers of a group and returns the first, which is at least
// least. Imported jobs may own some of them: see [Store.GiveJobID].
func (s *Store) TakeJobIDs(ctx context.Context, group string, n, least int32) (first int32, err error) {
	id, err := s.next(ctx, keyOf(group, "next.job"), int64(n), int64(max(least, 1)))
	return int32(id), err //nolint:gosec // it counts jobs
}

// GiveJobID gives a job a number, and returns it, or the one that it has already. The error is
// job.ErrConflict if the number is another job's.
func (s *Store) GiveJobID(ctx context.Context, name job.Name, id int32) (int32, error) {
	mine, err := s.claimNumber(ctx, id, name)
	switch {
	case err != nil:
		return 0, err
	case !mine:
		return 0, fmt.Errorf("%w: %d is the number of another job", job.ErrConflict, id)
	}
	_, err = s.put(ctx, jobKey(name), id, 0, condition{revision: 0})
	if errors.Is(err, job.ErrConflict) { // it has one
		_, err = s.get(ctx, jobKey(name), &id)
	}
	return id, err
}

// claimNumber makes a number that of a job, and reports whether it is.
func (s *Store) claimNumber(ctx context.Context, id int32, name job.Name) (bool, error) {
	_, err := s.put(ctx, numberKey(name.Group(), id), name, 0, condition{revision: 0})
	if !errors.Is(err, job.ErrConflict) {
		return err == nil, err
	}
	var of job.Name
	_, err = s.get(ctx, numberKey(name.Group(), id), &of) // it is there
	return of == name, err
}
