package cli

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
)

func TestRangesOfThePastCountBackFromTheirEnd(t *testing.T) {
	now := drawtest.At("12:00:00.000")
	f := Range{Since: "90m"}
	if from, to, err := f.Read(now); err != nil || !from.Equal(drawtest.At("10:30:00.000")) || !to.Equal(now) {
		t.Error(from, to, err)
	}
	f.to = "2026-03-01T11:00:00Z"
	if from, to, err := f.Read(now); err != nil || !from.Equal(drawtest.At("09:30:00.000")) || !to.Equal(drawtest.At("11:00:00.000")) {
		t.Error(from, to, err)
	}
	for _, wrong := range []Range{{Since: "1x"}, {Since: "-1h"}, {Since: "1h", From: "noon"}, {From: "2026-03-02T00:00:00Z"}} {
		if _, _, err := wrong.Read(now); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}
