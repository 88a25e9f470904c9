package main

import (
	"context"
	"os"
)

// writeConsoleSBOM writes what npm packages the console is made of. (GoReleaser writes what the
// programs are made of.)
func writeConsoleSBOM(ctx context.Context, file string) error {
	text, err := output(ctx, "npm", "--prefix", "frontend", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only")
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text+"\n"), 0o644) //nolint:gosec // public
}
