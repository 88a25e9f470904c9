package chserver

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gofrs/flock"
)

// libraryPath is where npm puts the library below a folder.
var libraryPath = filepath.Join("node_modules", "@chdb", "lib-linux-x64-gnu", "libchdb.so")

// manifests pin the package's version and digest.
//
//go:embed npm/package.json npm/package-lock.json
var manifests embed.FS

// cacheDir returns the folder that [Install] fills, in the user's cache: all checkouts share it. Who
// has no cache has one among the temporary files.
func cacheDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "carillon", "clickhouse")
}

// Install fetches ClickHouse into the user's cache with npm, unless a server could be
// started without. It is 180 MB to fetch and 570 MB on disk.
func Install(ctx context.Context, log io.Writer) error {
	if _, err := findEngine(ctx); err == nil {
		return nil
	}
	dir := cacheDir()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("install ClickHouse: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock")) // stages install at the same time
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("install ClickHouse: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if _, err := findEngine(ctx); err == nil {
		return nil // another has installed it meanwhile
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := manifests.ReadFile("npm/" + name)
		if err != nil {
			return fmt.Errorf("install ClickHouse: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("install ClickHouse: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("install ClickHouse into %s with npm: %w", dir, err)
	}
	return nil
}
