package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// How the terminal in the picture looks, in pixels, and how fast its time goes.
const (
	width, lineHeight, margin = 860, 20, 24
	faster                    = 4.0
	// sumsAfter is how many seconds of the picture lie between two lines without a time, such as sums.
	sumsAfter = 0.4
)

// style hides each line until its time, unless the reader wants no motion.
const style = `
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre }
    .loud { fill: #e3b341; font-weight: bold }
    .sum { fill: #7ee787; font-weight: bold }
    .prompt { fill: #ffffff }
    @keyframes show { from { opacity: 0 } to { opacity: 1 } }
    .later { animation: show 1ms linear both }
    @media (prefers-reduced-motion: reduce) { .later { animation: none } }
`

// draw returns an SVG in which a command prints text. Lines that begin with a number of seconds appear at
// that time, faster than they did, and others soon after the one before.
func draw(command, text string) []byte {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	height := 2*margin + (len(lines)+1)*lineHeight
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="What %s prints">`, width, height, command)
	fmt.Fprintf(&b, "\n  <style>%s  </style>\n  <rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#0d1117\"/>\n", style)
	line(&b, 0, "prompt", 0, "$ "+command)
	at := 0.0
	for i, l := range lines {
		if seconds, ok := timeOf(l); ok {
			at = seconds / faster
		} else {
			at += sumsAfter
		}
		line(&b, i+1, class(l), at, l)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// timeOf returns the seconds that a line begins with.
func timeOf(l string) (float64, bool) {
	number, _, ok := strings.Cut(strings.TrimLeft(l, " "), " s  ")
	if !ok {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(number, 64)
	return seconds, err == nil
}

// class returns how a line looks.
func class(l string) string {
	_, timed := timeOf(l)
	switch {
	case strings.Contains(l, "kill -9"), strings.Contains(l, "it fires, "):
		return "loud"
	case !timed && l != "":
		return "sum"
	}
	return "plain"
}

// line writes line n, which appears after a number of seconds.
func line(b *bytes.Buffer, n int, class string, at float64, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, `  <text x="%d" y="%d" class="later %s" style="animation-delay: %.1fs">`, margin, margin+(n+1)*lineHeight-6, class, at)
	_ = xml.EscapeText(b, []byte(text)) // a buffer takes all
	b.WriteString("</text>\n")
}
