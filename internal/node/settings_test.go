package node

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestSettingsInDiagnosticsHaveNoSecrets(t *testing.T) {
	f := pflag.NewFlagSet("server", pflag.ContinueOnError)
	for name, value := range map[string]string{
		"nats": "nats://ann:pa@ss/w@n1:4222,tls://token@n2:4222", "store": "clickhouse://u:s3cret@ch1:9000,ch2/db?password=s3cret&x=1",
		"master-key": "/etc/s3cret", "http": "127.0.0.1:8822", "oidc-issuer": "https://id.example.org",
	} {
		f.String(name, value, "")
	}
	got := settingsOf(f)
	want := map[string]string{
		"nats": "nats://…@n2:4222", "store": "clickhouse://…@ch1:9000,ch2/db?…", "master-key": "(a file)", "http": "127.0.0.1:8822", "oidc-issuer": "https://id.example.org",
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
		}
	}
	// Each flag of a server that could hold a secret is known to be handled.
	for _, cmd := range []*pflag.FlagSet{newServerCommand().Flags(), newDevCommand().Flags()} {
		cmd.VisitAll(func(f *pflag.Flag) {
			for _, word := range []string{"password", "token", "secret"} {
				if f.Value.Type() == "string" && strings.Contains(f.Name, word) && settingsOf(cmd)[f.Name] != "" && settingsOf(cmd)[f.Name] != "(a file)" {
					t.Errorf("--%s is told", f.Name)
				}
			}
		})
	}
}
