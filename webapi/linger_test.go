package webapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// Each of these is refused while the client still writes it: the head is longer than the
// server's buffer, the body than what is taken. The client hears why all the same.
func TestWhatIsRefusedBeforeItIsReadIsAnsweredAllTheSame(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat(" ", 8*guard.MaxBody)
	for range 20 {
		w.problem(http.StatusRequestEntityTooLarge, "too_large", "PUT", "/api/v1/jobs/billing/x", long)
		w.problem(http.StatusRequestHeaderFieldsTooLarge, "invalid", "PUT", "/api/v1/jobs/billing/"+strings.Repeat("x", 200_000), long[:guard.MaxBody])
	}
}
