package draw

import (
	"os"
	"strings"
)

// The colours of words, as escape sequences have them.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	dim    = "\x1b[2m"
)

// colours are those of the cells that say how something is: runs, instances, nodes, incidents. Each word
// stays, so nothing is said by colour alone.
var colours = map[string]string{
	"succeeded": green, "online": green, "resolved": green, "ok": green,
	"failed": red, "timed_out": red, "lost": red, "missed": red, "open": red, "critical": red,
	"warning": yellow, "acknowledged": yellow, "draining": yellow, "cordoned": yellow, "paused": yellow, "cancelled": yellow,
	"running": cyan, "queued": cyan, "pending": cyan,
	"skipped": dim, "deleted": dim,
}

// states are the columns, or the rows of a thing, whose cells have a colour.
var states = map[string]bool{"STATE": true, "STATUS": true, "SEVERITY": true}

// coloured returns a cell in its colour, if it is one of states.
func coloured(of, cell string) string {
	if colour := colours[cell]; colour != "" && states[strings.ToUpper(of)] {
		return colour + cell + endColour
	}
	return cell
}

// WantsColour reports whether the person at a terminal wants colours, see https://no-color.org.
func WantsColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
