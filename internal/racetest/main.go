// Command racetest runs a command that tests under the race detector, and runs it again,
// at most three times, while nothing fails but the detector itself.
//
//	racetest go test -race ./...
//
// The detector of Go sometimes ends a process with "ThreadSanitizer: CHECK failed" after
// minutes with hundreds of goroutines, or with a signal in its own code: in Go's code, a bad
// address is a panic, which begins with that word. That says nothing about the tests. Each
// further run takes the packages that have passed from go's cache. A failed test, a data race
// or a panic is never run again.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// mostAgain bounds how often the command is run again.
const mostAgain = 3

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "racetest: want a command, as in: racetest go test -race ./...")
		os.Exit(2)
	}
	output, err := run(os.Args[1:])
	for again := 0; again < mostAgain && err != nil && onlyDetectorFailed(output); again++ {
		fmt.Println("racetest: the race detector itself failed, and no test did; testing the rest again")
		output, err = run(os.Args[1:])
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "racetest:", err)
		os.Exit(1)
	}
}

// run returns what the command printed to its standard output, which it also shows.
func run(command []string) ([]byte, error) {
	var output bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...) // what the caller typed, for as long as it takes
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &output), os.Stderr
	err := cmd.Run()
	return output.Bytes(), err
}

// onlyDetectorFailed tells whether each package that failed in what go test printed ended
// because the detector failed, and for no other reason. (go test prints the output of a
// package as a whole, and the line with FAIL and its name last.)
func onlyDetectorFailed(output []byte) bool {
	failed := false
	var crashed, other bool // in the package whose output is read
	for line := range bytes.Lines(output) {
		switch {
		case bytes.HasPrefix(line, []byte("ThreadSanitizer: CHECK failed")),
			bytes.HasPrefix(line, []byte("SIGSEGV: segmentation violation")):
			crashed = true
		case bytes.Contains(line, []byte("--- FAIL")),
			bytes.Contains(line, []byte("WARNING: DATA RACE")),
			bytes.HasPrefix(line, []byte("panic:")),
			bytes.HasPrefix(line, []byte("fatal error:")):
			other = true
		case bytes.HasPrefix(line, []byte("FAIL\t")):
			if !crashed || other {
				return false
			}
			failed = true
			crashed, other = false, false
		case bytes.HasPrefix(line, []byte("ok  \t")):
			crashed, other = false, false
		}
	}
	return failed
}
