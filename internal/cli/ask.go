package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/job"
)

// IsTerminal reports whether r is a terminal, at which somebody can be asked.
func IsTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Confirm asks a person whether to go on. Where there is none, it is wrong usage.
func Confirm(cmd *cobra.Command, question string) error {
	if !IsTerminal(cmd.InOrStdin()) {
		return Usage(errors.New("standard input is not a terminal; confirm with --yes. Nothing was changed"))
	}
	_, _ = fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return ExitWith(ExitError, errors.New("nothing was changed"))
	}
	return nil
}

// ReadSecret reads a value without the line end that files and pipes have.
func ReadSecret(cmd *cobra.Command, file string) (string, error) {
	from := cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the file that the person names
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		from = f
	} else if IsTerminal(from) {
		cmd.PrintErrln("Type the value (it is visible), then Enter and Ctrl-D.")
	}
	data, err := io.ReadAll(io.LimitReader(from, job.MaxSecret+3)) // enough to see that it is too long
	if err != nil {
		return "", fmt.Errorf("read the value: %w", err)
	}
	if !utf8.Valid(data) { // it would be kept with other characters
		return "", Usage(errors.New("the value is not UTF-8; encode it, such as with base64"))
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
