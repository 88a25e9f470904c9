package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// ofCarillon measures "carillon bench run". Everything is in one process there.
func ofCarillon(program, conf, sync string) func(context.Context, string, int) (result, error) {
	return func(ctx context.Context, dir string, jobs int) (result, error) {
		args := []string{"bench", "run", "--jobs", strconv.Itoa(jobs), "-o", "json"}
		if sync != "" {
			file, err := withSync(conf, dir, sync)
			if err != nil {
				return result{}, err
			}
			args = append(args, "--nats-config", file)
		}
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", cmd, err)
		}
		var r struct {
			Count   int     `json:"count"`
			Seconds float64 `json:"seconds"`
			Micros  float64 `json:"cpu_us_each"`
		}
		if err := json.Unmarshal(out, &r); err != nil {
			return result{}, fmt.Errorf("%s: %w: %s", cmd, err, out)
		}
		if r.Count != jobs {
			return result{}, fmt.Errorf("%s: %d runs of %d: %s", cmd, r.Count, jobs, out)
		}
		each := time.Duration(r.Micros * float64(time.Microsecond))
		return result{jobs: r.Count, took: time.Duration(r.Seconds * float64(time.Second)), cpu: each * time.Duration(r.Count)}, nil
	}
}

// withSync writes Carillon's configuration of NATS with another sync_interval, and returns the file.
func withSync(conf, dir, sync string) (string, error) {
	data, err := os.ReadFile(conf)
	if err != nil {
		return "", err
	}
	const line = `sync_interval: "2m"`
	if bytes.Count(data, []byte(line)) != 1 {
		return "", fmt.Errorf("%s does not have one line %s", conf, line)
	}
	file := filepath.Join(dir, "nats.conf")
	return file, os.WriteFile(file, bytes.Replace(data, []byte(line), []byte("sync_interval: "+sync), 1), 0o600)
}
