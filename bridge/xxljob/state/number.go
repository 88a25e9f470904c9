package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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

func blockKey(n int64) string { return "block." + strconv.FormatInt(n, 10) }

// TakeBlock gives an instance log ids that nobody else has or had, from first on, for [BlockFor]. None is
// below least.
func (s *Store) TakeBlock(ctx context.Context, b Block, least int64) (first int64, err error) {
	n, err := s.next(ctx, "next.log", 1, (max(least, 1)+BlockSize-1)/BlockSize)
	if err != nil {
		return 0, err
	}
	_, err = s.put(ctx, blockKey(n), b, BlockFor+keptFor, condition{revision: anyRevision})
	return n * BlockSize, err
}

// BlockOf returns whose a log id is. The error is job.ErrNotFound if it was given to nobody.
func (s *Store) BlockOf(ctx context.Context, logID int64) (Block, error) {
	var b Block
	_, err := s.get(ctx, blockKey(logID/BlockSize), &b)
	return b, err
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

func jobKey(name job.Name) string { return "job." + strings.Replace(string(name), "/", ".", 1) }

func numberKey(id int32) string { return "number." + strconv.FormatInt(int64(id), 10) }

// JobID returns the number of a job that has one. The error is job.ErrNotFound if it has none.
func (s *Store) JobID(ctx context.Context, name job.Name) (int32, error) {
	var id int32
	_, err := s.now(ctx, jobKey(name), &id)
	return id, err
}

// JobOf returns the job that has a number. The error is job.ErrNotFound if none has it.
func (s *Store) JobOf(ctx context.Context, id int32) (job.Name, error) {
	var name job.Name
	_, err := s.now(ctx, numberKey(id), &name)
	return name, err
}

// TakeJobIDs returns the first of n numbers that no job has or had, at least least. Jobs that were imported
// may have some of them: see [Store.GiveJobID].
func (s *Store) TakeJobIDs(ctx context.Context, n, least int32) (first int32, err error) {
	id, err := s.next(ctx, "next.job", int64(n), int64(max(least, 1)))
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
	_, err := s.put(ctx, numberKey(id), name, 0, condition{revision: 0})
	if !errors.Is(err, job.ErrConflict) {
		return err == nil, err
	}
	var of job.Name
	_, err = s.get(ctx, numberKey(id), &of) // it is there
	return of == name, err
}
