package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The folders, from the root of the repository.
const (
	renderer = "internal/site"
	staged   = "internal/site/.pages" // what the renderer reads, below its packages
	built    = ".release/site"        // what any web server serves: a folder for each version
)

func main() {
	version := flag.String("version", "dev", "the `version` that the pages are of, as the name of their folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // main makes the root
	err := run(ctx, *version)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// run stages the pages and renders them into the folder of a version. Those of other versions stay.
func run(ctx context.Context, version string) error {
	if !regexp.MustCompile(`^[0-9a-z][0-9a-z.-]*$`).MatchString(version) {
		return fmt.Errorf("-version %q must be letters, digits, dots and hyphens, such as 1.0", version)
	}
	s, err := read(os.DirFS("."))
	if err != nil {
		return err
	}
	s.version = version
	if err := os.RemoveAll(staged); err != nil {
		return fmt.Errorf("empty %s: %w", staged, err)
	}
	if err := s.write(staged); err != nil {
		return err
	}
	out, err1 := filepath.Abs(filepath.Join(built, version))
	in, err2 := filepath.Abs(staged)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for _, args := range [][]string{{"ci", "--silent"}, {"run", "--silent", "build", "--", in, "--outDir", out}} {
		cmd := exec.CommandContext(ctx, "npm", args...) //nolint:gosec // the arguments above
		cmd.Dir, cmd.Stdout, cmd.Stderr = renderer, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("npm %s: %w", args[0], err)
		}
	}
	return listVersions()
}

// listVersions writes the first page, which leads to each version, or to the only one at once.
func listVersions() error {
	folders, err := filepath.Glob(filepath.Join(built, "*", "index.html"))
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Carillon</title>\n<h1>Documentation of Carillon</h1>\n")
	slices.SortFunc(folders, func(a, b string) int { return -compareVersions(a, b) })
	for _, f := range folders {
		version := filepath.Base(filepath.Dir(f))
		if len(folders) == 1 {
			fmt.Fprintf(&text, "<meta http-equiv=\"refresh\" content=\"0; url=%s/\">\n", version)
		}
		fmt.Fprintf(&text, "<p><a href=\"%[1]s/\">%[1]s</a></p>\n", version)
	}
	text.WriteString("</html>\n")
	if err := os.WriteFile(filepath.Join(built, "index.html"), []byte(text.String()), 0o644); err != nil { //nolint:gosec // a page for everybody
		return fmt.Errorf("write the list of versions: %w", err)
	}
	return nil
}

var digits = regexp.MustCompile(`[0-9]+`)

// compareVersions orders by the numbers in two texts, then by the texts: 1.9 is before 1.10.
func compareVersions(a, b string) int {
	numbers := func(text string) (all []int) {
		for _, n := range digits.FindAllString(text, -1) {
			i, _ := strconv.Atoi(n) // digits, unless there are too many
			all = append(all, i)
		}
		return all
	}
	return cmp.Or(slices.Compare(numbers(a), numbers(b)), strings.Compare(a, b))
}
