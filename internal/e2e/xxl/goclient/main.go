// Command goclient is an executor made with XXL-JOB's client for Go. It has the handlers, and takes
// the variables of the environment, of the executor in Java beside it. That client keeps no logs, so
// XXL_LOGS plays no part.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/xxl-job/xxl-job-executor-go"
)

func main() {
	e := xxl.NewExecutor(
		xxl.ServerAddr(os.Getenv("XXL_ADMIN")),
		xxl.AccessToken(os.Getenv("XXL_TOKEN")),
		xxl.RegistryKey(os.Getenv("XXL_APPNAME")),
		xxl.ExecutorIp("127.0.0.1"),
		xxl.ExecutorPort(os.Getenv("XXL_PORT")),
	)
	e.Init()
	e.LogHandler(logs.read)
	for name, handle := range map[string]handler{
		"success": succeed, "failure": fail, "exception": fail, "slow": sleep, "stubborn": sleepWhateverHappens, "log": printLines, "shard": takeShard,
	} {
		e.RegTask(name, witnessed(name, handle))
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		e.Stop()
		os.Exit(0)
	}()
	log.Fatal(e.Run())
}

// handler returns a message, or panics: the client has no other way to fail.
type handler func(ctx context.Context, r *xxl.RunReq) (message, outcome string)

func witnessed(name string, handle handler) xxl.TaskFunc {
	return func(ctx context.Context, r *xxl.RunReq) string {
		about := fmt.Sprintf("\t%s\t%d\t%s\t", name, r.BroadcastIndex, r.ExecutorParams)
		witness("start" + about)
		outcome := "failed"
		defer func() { witness("end" + about + outcome) }()
		message, how := handle(ctx, r)
		outcome = how
		return message
	}
}

// witness appends a line by one write, so that lines of several processes do not mix.
func witness(line string) {
	file, err := os.OpenFile(os.Getenv("XXL_WITNESS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(line + "\n")
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func succeed(_ context.Context, r *xxl.RunReq) (message, outcome string) {
	logs.add(r.LogID, "param: "+r.ExecutorParams)
	return "echo: " + r.ExecutorParams, "succeeded"
}

func fail(_ context.Context, r *xxl.RunReq) (message, outcome string) {
	logs.add(r.LogID, "about to fail")
	panic("failed: " + r.ExecutorParams)
}

func sleep(ctx context.Context, r *xxl.RunReq) (message, outcome string) {
	logs.add(r.LogID, "asleep")
	select {
	case <-time.After(time.Duration(number(r)) * time.Millisecond):
		return "slept", "succeeded"
	case <-ctx.Done():
		return "interrupted", "interrupted"
	}
}

func sleepWhateverHappens(_ context.Context, r *xxl.RunReq) (message, outcome string) {
	time.Sleep(time.Duration(number(r)) * time.Millisecond)
	return "slept", "succeeded"
}

func printLines(_ context.Context, r *xxl.RunReq) (message, outcome string) {
	n := number(r)
	for i := range n {
		logs.add(r.LogID, fmt.Sprintf("line %d of %d", i+1, n))
	}
	return "printed", "succeeded"
}

func takeShard(_ context.Context, r *xxl.RunReq) (message, outcome string) {
	about := fmt.Sprintf("piece %d of %d", r.BroadcastIndex, r.BroadcastTotal)
	logs.add(r.LogID, about)
	if r.ExecutorParams != "" && int64(number(r)) == r.BroadcastIndex {
		panic(fmt.Sprintf("piece %d failed", r.BroadcastIndex))
	}
	return about, "succeeded"
}

// number returns what the parameter begins with.
func number(r *xxl.RunReq) int {
	first, _, _ := strings.Cut(r.ExecutorParams, " ")
	n, err := strconv.Atoi(first)
	if err != nil {
		panic(err)
	}
	return n
}

// logs are those of all runs, which the client leaves to its user.
var logs = logBook{lines: map[int64][]string{}}

type logBook struct {
	mu    sync.Mutex // guards lines
	lines map[int64][]string
}

func (b *logBook) add(id int64, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[id] = append(b.lines[id], line)
}

func (b *logBook) read(r *xxl.LogReq) *xxl.LogRes {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.lines[r.LogID]
	from := min(max(r.FromLineNum, 1), len(all)+1)
	return &xxl.LogRes{Code: 200, Content: xxl.LogResContent{
		FromLineNum: from, ToLineNum: len(all), LogContent: strings.Join(all[from-1:], "\n"), IsEnd: false,
	}}
}
