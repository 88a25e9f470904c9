package client

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAServerIsAskedAgainWhileAPartOfTheSystemIsAway(t *testing.T) {
	away := &Problem{Code: "unavailable", Detail: "the log store does not answer"}
	for name, c := range map[string]struct {
		until time.Duration // after which it answers
		err   error         // what it says until then
		tries int
		works bool
	}{
		"soon":                 {2 * time.Second, away, 3, true},
		"too late":             {time.Minute, away, 6, false},
		"that is not allowed":  {2 * time.Second, &Problem{Code: "forbidden"}, 1, false},
		"nobody listens there": {2 * time.Second, &UnreachableError{Address: "x", Err: errors.New("refused")}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, tries, said := time.Now(), 0, 0
				_, err := Again(t.Context(), func(err error, _ time.Duration) {
					if !errors.Is(err, job.ErrUnavailable) {
						t.Error(err)
					}
					said++
				}, func() (int, error) {
					if tries++; time.Since(begun) < c.until {
						return 0, c.err
					}
					return 1, nil
				})
				if tries != c.tries || said != tries-1 || (err == nil) != c.works || err != nil && !errors.Is(err, c.err) {
					t.Errorf("%d tries, told of %d: %v", tries, said, err)
				}
				if took := time.Since(begun); took > againFor {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}
