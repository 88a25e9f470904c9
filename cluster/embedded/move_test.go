package embedded_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

func TestStreamsOfAServerWithoutAccountsAreTakenAlong(t *testing.T) {
	cfg := embedded.Config{StoreDir: t.TempDir(), ConfigFile: write(t, `listen: "127.0.0.1:-1", jetstream { store_dir: x }`)}
	old := start(t, cfg)
	js := connect(t, old.ClientURL())
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s.a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := old.Shutdown(); err != nil {
		t.Fatal(err)
	}
	cfg.ConfigFile = ""
	for range 2 { // the second finds them where they belong
		s := start(t, cfg)
		stream, err := connect(t, s.ClientURL()).Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		if m, err := stream.GetLastMsgForSubject(t.Context(), "s.a"); err != nil || string(m.Data) != "kept" {
			t.Errorf("%v, %v", m, err)
		}
		if err := s.Shutdown(); err != nil {
			t.Fatal(err)
		}
	}
}
