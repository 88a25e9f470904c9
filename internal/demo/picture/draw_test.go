package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLinesAppearInTheOrderOfTime(t *testing.T) {
	picture := string(draw("carillon demo", "   4.0 s  2 < 3 jobs\n  16.0 s  kill -9 7: nobody fires\n\n     1,105  fires were due\n         0  have neither\n"))
	for _, want := range []string{
		`class="later plain" style="animation-delay: 1.0s">   4.0 s  2 &lt; 3 jobs</text>`,
		`class="later loud" style="animation-delay: 4.0s">  16.0 s  kill -9 7`,
		`class="later sum" style="animation-delay: 4.8s">     1,105  fires were due`,
		`class="later sum" style="animation-delay: 5.2s">         0  have neither`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s in\n%s", want, picture)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
