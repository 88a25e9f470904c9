package job

import (
	"errors"
	"testing"
)

func TestAPriorityIsOneOfThreeWords(t *testing.T) {
	for text, want := range map[Priority]Priority{"high": PriorityHigh, "low": PriorityLow, "normal": PriorityNormal, "": PriorityNormal} {
		j := Job{Job: "g/a", Task: Task{Handler: "h"}, Priority: text}.WithDefaults()
		if err := j.Validate(); err != nil || j.Priority != want {
			t.Errorf("%q becomes %q, %v", text, j.Priority, err)
		}
	}
	j := Job{Job: "g/a", Task: Task{Handler: "h"}, Priority: "urgent"}.WithDefaults()
	if err := j.Validate(); !errors.Is(err, ErrInvalid) || Problems(err)[0].Field != "priority" {
		t.Errorf("urgent: %v", err)
	}
}
