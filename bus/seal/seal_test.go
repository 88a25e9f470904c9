package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus/seal"
)

func TestASecretOpensWithTheKeyOfItsGroupOnly(t *testing.T) {
	master := seal.NewMaster()
	key := master.Group("billing")
	sealed := key.Seal("db", "pass\x00word")
	if bytes.Contains(sealed, []byte("pass")) || bytes.Equal(sealed, key.Seal("db", "pass\x00word")) {
		t.Error("a sealed secret tells something")
	}
	if got, err := key.Open("db", sealed); err != nil || got != "pass\x00word" {
		t.Errorf("%q, %v", got, err)
	}
	closed := func(what string, k *seal.Key, name string, sealed []byte) {
		t.Helper()
		if got, err := k.Open(name, sealed); !errors.Is(err, seal.ErrKey) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	closed("another group", master.Group("other"), "db", sealed)
	closed("another master", seal.NewMaster().Group("billing"), "db", sealed)
	closed("another name", key, "db2", sealed)
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		closed("changed", key, "db", changed)
	}
	closed("cut", key, "db", sealed[:5])
}

func TestKeysAreReadBackAsTheyAreWritten(t *testing.T) {
	master := seal.NewMaster()
	again, err := seal.ParseMaster(" " + master.Text() + "\n")
	if err != nil || again.Text() != master.Text() {
		t.Fatalf("%v", err)
	}
	key, err := seal.ParseKey(again.Group("billing").Text() + "\n")
	if err != nil || key.Group() != "billing" || key.ID() != master.Group("billing").ID() || key.ID() == master.Group("other").ID() {
		t.Fatalf("%+v, %v", key, err)
	}
	if got, err := key.Open("db", master.Group("billing").Seal("db", "x")); err != nil || got != "x" {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"", "x", master.Text(), key.Text()[:40], strings.Replace(key.Text(), "group", "grou", 1)} {
		if _, err := seal.ParseKey(wrong); err == nil {
			t.Errorf("%q is taken for a group's key", wrong)
		}
	}
	if _, err := seal.ParseMaster(key.Text()); err == nil {
		t.Error("a group's key is taken for a master key")
	}
}
