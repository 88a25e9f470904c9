//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
)

// handlers are those of the executor in Java. The start and the end of each become lines of witness.
func handlers(witness *os.File) map[string]xxlstandin.Handler {
	all := map[string]xxlstandin.Handler{
		"success": succeed, "failure": fail, "exception": blunder, "slow": sleep, "stubborn": sleepWhateverHappens, "log": printLines, "shard": takeShard,
	}
	for name, do := range all {
		all[name] = func(ctx context.Context, r xxlstandin.Run, log func(string)) (message string, err error) {
			about := fmt.Sprintf("\t%s\t%d\t%s\t", name, r.Index, r.Params)
			if _, err := witness.WriteString("start" + about + "\n"); err != nil {
				return "", err
			}
			outcome := "died"
			defer func() {
				_, e := witness.WriteString("end" + about + outcome + "\n") // in one write each, so that lines of several processes do not mix
				err = errors.Join(err, e)
			}()
			message, err = do(ctx, r, log)
			switch {
			case ctx.Err() != nil && err != nil:
				outcome = "interrupted"
			case err != nil:
				outcome = "failed"
			default:
				outcome = "succeeded"
			}
			return message, err
		}
	}
	return all
}

func succeed(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) {
	log("param: " + r.Params)
	return "echo: " + r.Params, nil
}

func fail(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) {
	log("about to fail")
	return "", errors.New("failed: " + r.Params)
}

func blunder(_ context.Context, r xxlstandin.Run, _ func(string)) (string, error) {
	panic("blunder: " + r.Params)
}

func sleep(ctx context.Context, r xxlstandin.Run, log func(string)) (string, error) {
	log("asleep")
	n, err := number(r)
	if err != nil {
		return "", err
	}
	awake := time.NewTimer(time.Duration(n) * time.Millisecond)
	defer awake.Stop()
	select {
	case <-awake.C:
		log("awake")
		return "slept", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func sleepWhateverHappens(_ context.Context, r xxlstandin.Run, _ func(string)) (string, error) {
	n, err := number(r)
	if err != nil {
		return "", err
	}
	time.Sleep(time.Duration(n) * time.Millisecond) //nolint:forbidigo // it does not listen
	return "slept", nil
}

func printLines(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) {
	n, err := number(r)
	for i := range n {
		log(fmt.Sprintf("line %d of %d", i+1, n))
	}
	return "printed", err
}

// takeShard fails in the piece whose index its parameter begins with.
func takeShard(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) {
	about := fmt.Sprintf("piece %d of %d", r.Index, r.Total)
	log(about)
	if r.Params != "" {
		n, err := number(r)
		if err == nil && n == r.Index {
			err = fmt.Errorf("piece %d failed", n)
		}
		return about, err
	}
	return about, nil
}

// number returns what the parameter begins with.
func number(r xxlstandin.Run) (int, error) {
	first, _, _ := strings.Cut(r.Params, " ")
	return strconv.Atoi(first)
}
