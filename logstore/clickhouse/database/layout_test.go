package database

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/goldentest"
	"github.com/carillon-scheduler/carillon/job"
)

// The statements for clusters cannot run in these tests, so people read them. Those of the
// other layouts differ from these by what the test takes away.
func TestSchemaIsTheGoldenFile(t *testing.T) {
	render := func(l Layout) string {
		t.Helper()
		all, err := statements(l)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, ";\n\n") + ";\n"
	}
	sharded := render(Layout{Database: "carillon", Cluster: "main", Sharded: true, TextIndex: true})
	goldentest.Text(t, "testdata/schema.sql", sharded)
	replicated := strings.ReplaceAll(sharded, "_local", "")
	replicated = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS \w+ ON CLUSTER main AS \w+\nENGINE = Distributed\(.*\);\n\n`).ReplaceAllString(replicated, "")
	if diff := cmp.Diff(replicated, render(Layout{Database: "carillon", Cluster: "main", TextIndex: true})); diff != "" {
		t.Errorf("the schema of replicas differs (-want +got):\n%s", diff)
	}
	single := strings.NewReplacer("ON CLUSTER main", "", "replicated_ded", "non_replicated_ded", "ENGINE = Replicated", "ENGINE = ",
		"'/clickhouse/tables/{uuid}/{shard}', '{replica}', ", "", "'/clickhouse/tables/{uuid}/{shard}', '{replica}'", "").Replace(replicated)
	if diff := cmp.Diff(single, render(Layout{Database: "carillon", TextIndex: true})); diff != "" {
		t.Errorf("the schema of one server differs (-want +got):\n%s", diff)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	refuse := func(address, want string) {
		t.Helper()
		_, _, err := Parse(address)
		if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v; want one about %q", address, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", address, err)
		}
	}
	refuse("http://localhost/carillon", "clickhouse://")
	refuse("clickhouse://", "clickhouse://")
	refuse("clickhouse://u:secret%@h/d", "clickhouse://")
	refuse("clickhouse://u:secret@h:9000", "name of a database")
	refuse("clickhouse://u:secret@h:9000/a-b", "name of a database")
	refuse("clickhouse://u:secret@h:9000/d?sharded=true", "without cluster")
	refuse("clickhouse://u:secret@h:9000/d?cluster=a'b", "cluster")
	refuse("clickhouse://u:secret@h:9000/d?text_index=maybe", "text_index")
	refuse("clickhouse://u:secret@h:9000/d?dial_timeout=soon", "option that the ClickHouse driver does not take: dial_timeout")
	refuse("clickhouse://u:secret@h:9000/d?password=secret&secure=maybe", "does not take: secure")
	refuse("clickhouse://u:secret@h:90000/d", `port "90000"`)
	refuse("clickhouse://u:secret@h,i:0/d", `port "0"`)

	options, l, err := Parse("clickhouse://u:secret@a,b:9001/d?cluster=c&sharded=true&text_index=false&dial_timeout=3s")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Layout{Database: "d", Cluster: "c", Sharded: true}, l); diff != "" {
		t.Errorf("the layout differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a:9000", "b:9001"}, options.Addr); diff != "" || options.DialTimeout != 3*time.Second {
		t.Errorf("the addresses differ (-want +got):\n%s\nand the timeout is %s", diff, options.DialTimeout)
	}
	if _, ok := options.Settings["text_index"]; ok {
		t.Error("an option of ours goes to the server")
	}
}

func TestOldServersAreRefused(t *testing.T) {
	for _, v := range [][2]uint64{{25, 12}, {26, 1}, {1, 1}} {
		if err := checkVersion(v[0], v[1]); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), "26.2") {
			t.Errorf("of %v the error is %v; want one that tells the version", v, err)
		}
	}
	for _, v := range [][2]uint64{{26, 2}, {26, 7}, {27, 1}} {
		if err := checkVersion(v[0], v[1]); err != nil {
			t.Errorf("%v is refused: %v", v, err)
		}
	}
}
