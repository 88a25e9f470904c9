package cli

import (
	"testing"
	"time"
)

func TestDurationsAreShownInDaysWhereTheyCan(t *testing.T) {
	if got := Days(36 * time.Hour); got != "36h" {
		t.Errorf("36 hours are shown as %s", got)
	}
}
