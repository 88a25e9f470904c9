package chserver

import (
	"os"
	"strings"
	"testing"
)

// What tests show of the reader holds for the one that people deploy.
func TestTheReaderHasTheLimitsOfTheOneThatIsDeployed(t *testing.T) {
	data, err := os.ReadFile("../../deploy/clickhouse/reports.xml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "<profiles>")
	profile, rest, found := strings.Cut(rest, "</profiles>")
	squeeze := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "><", "> <")), "") }
	if !found || !strings.Contains(squeeze(usersConfig), squeeze(profile)) {
		t.Errorf("the profile of deploy/clickhouse/reports.xml is not in usersConfig:\n%s", profile)
	}
	_, rest, _ = strings.Cut(rest, "<grants>")
	grants, _, found := strings.Cut(rest, "</grants>")
	ours := strings.NewReplacer("%[2]s", "carillon").Replace(usersConfig)
	if !found || !strings.Contains(squeeze(ours), squeeze(grants)) {
		t.Errorf("the grants of deploy/clickhouse/reports.xml are not in usersConfig:\n%s", grants)
	}
}
