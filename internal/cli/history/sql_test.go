package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestAnAnswerIsShownAsATable(t *testing.T) {
	var b strings.Builder
	err := drawAnswer(&b, &client.SQLAnswer{
		Columns: []client.SQLColumn{{Name: "job", Type: "String"}, {Name: "n", Type: "UInt64"}},
		Rows:    [][]any{{"billing/x\x1b[31m", 12.0}, {nil, []any{"a", nil}}}, Truncated: true,
	})
	want := fmt.Sprintf("%-16s%s\n%-16s%s\n%-16s%s\n%s\n", "JOB", "N", "billing/x·[31m", "12", "-", `["a",null]`, "only the first 2 rows are shown; use --format for more")
	if err != nil || b.String() != want {
		t.Errorf("the table is\n%swant\n%s", b.String(), want)
	}
}
