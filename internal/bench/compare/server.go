package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a database in a process of its own.
type server struct {
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has
	printed bytes.Buffer  // read it after ended
}

// startServer starts a program. As root it runs as the given user, unless that is "".
func startServer(ctx context.Context, as, program string, args ...string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, program, args...), ended: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.printed, &s.printed
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 10 * time.Second
	if err := runAs(s.cmd, as); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // stop reports how it ended
	}()
	return s, nil
}

// runAs has root run a command as a user: PostgreSQL refuses to be run by root.
func runAs(cmd *exec.Cmd, name string) error {
	if name == "" || os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := idsOf(name)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	return nil
}

func idsOf(name string) (uid, gid uint32, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, err
	}
	ids := make([]uint32, 2)
	for i, text := range []string{u.Uid, u.Gid} {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return 0, 0, err
		}
		ids[i] = uint32(id)
	}
	return ids[0], ids[1], nil
}

// ready waits until try has no error.
func (s *server) ready(ctx context.Context, try func() error) error {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s ended: %s", s.cmd.Path, s.printed.Bytes())
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticks.C:
		}
	}
}

// stop ends the server and waits for that.
func (s *server) stop(with syscall.Signal) error {
	_ = s.cmd.Process.Signal(with) // an error says that it has ended
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	select {
	case <-s.ended:
		return nil
	case <-limit.C:
		_ = s.cmd.Process.Kill()
		<-s.ended
		return fmt.Errorf("%s did not end within 30 s, and was killed", s.cmd.Path)
	}
}

// freePort returns a port of loopback that nobody listens on.
func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// program finds a program in PATH, or where Debian keeps those of PostgreSQL.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return slices.Max(found), nil
	}
	return "", fmt.Errorf("%w; install it, on Debian by apt-get install postgresql redis-server", err)
}

// cpuOfAll returns what this process, and the server with all its children, have used.
func cpuOfAll(s *server) (time.Duration, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, err
	}
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	parents, used := map[int]int{}, map[int]time.Duration{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		pid, parent, cpu, err := parseStat(string(data))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		parents[pid], used[pid] = parent, cpu
	}
	for pid, cpu := range used {
		for up := pid; up != 0; up = parents[up] {
			if up == s.cmd.Process.Pid {
				sum += cpu
				break
			}
		}
	}
	return sum, nil
}

// parseStat reads a line of /proc/PID/stat: which process it is, its parent, and what it and those of
// its children that have ended have used.
func parseStat(line string) (pid, parent int, cpu time.Duration, err error) {
	open, shut := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')') // the name may have spaces
	if open < 0 || shut < open {
		return 0, 0, 0, fmt.Errorf("%q has no name in parentheses", line)
	}
	fields := strings.Fields(line[shut+1:]) // from the third of proc(5) on
	if len(fields) < 15 {
		return 0, 0, 0, fmt.Errorf("%q has too few fields", line)
	}
	numbers := []string{strings.TrimSpace(line[:open]), fields[1], fields[11], fields[12], fields[13], fields[14]}
	var n [6]int
	for i, text := range numbers {
		if n[i], err = strconv.Atoi(text); err != nil {
			return 0, 0, 0, err
		}
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return n[0], n[1], time.Duration(n[2]+n[3]+n[4]+n[5]) * tick, nil
}

// begin notes the instant and the CPU at which the work begins, and returns what ends it.
func begin(jobs int, s *server) (end func() (result, error), err error) {
	before, err := cpuOfAll(s)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	return func() (result, error) {
		took := time.Since(began)
		after, err := cpuOfAll(s)
		return result{jobs: jobs, took: took, cpu: after - before}, err
	}, nil
}
