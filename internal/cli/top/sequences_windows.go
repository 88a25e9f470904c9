package top

import (
	"os"

	"golang.org/x/sys/windows"
)

// obeySequences has a console obey escape sequences, until restore is called.
func obeySequences(out *os.File) (restore func(), err error) {
	console := windows.Handle(out.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was
	}
	if err := windows.SetConsoleMode(console, before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil
}
