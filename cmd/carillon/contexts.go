package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// configVariable names the file with the contexts, in the place of the usual one.
const configVariable = "CARILLON_CONFIG"

// signedIn is a context: a server, and the token by which one is signed in there.
type signedIn struct {
	Name      string    `json:"name"`
	Server    string    `json:"server"`
	User      string    `json:"user"`
	TokenID   string    `json:"token_id"`
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	CA        string    `json:"ca,omitempty"` // file of the authority that signed the server's certificate
}

// contexts is what the file has. It holds tokens, so only its owner can read it.
type contexts struct {
	Current string     `json:"current,omitempty"`
	Items   []signedIn `json:"contexts"`
}

func contextsPath() (string, error) {
	if p := os.Getenv(configVariable); p != "" {
		return p, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration folder: %w; name a file with %s", err, configVariable)
	}
	return filepath.Join(dir, "carillon", "contexts.json"), nil
}

// readContexts returns the contexts, none when there is no file.
func readContexts() (*contexts, error) {
	path, err := contextsPath()
	if err != nil {
		return nil, err
	}
	c := &contexts{}
	data, err := os.ReadFile(path) //nolint:gosec // the user's own file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("read contexts in %s: %w", path, err)
	}
	return c, nil
}

// save replaces the file as a whole, so that a crash leaves the old or the new one.
func (c *contexts) save() error {
	path, err := contextsPath()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

// named returns the context of a name, or nil.
func (c *contexts) named(name string) *signedIn {
	i := slices.IndexFunc(c.Items, func(s signedIn) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Items[i]
}

// at returns a context of a server, the current one before others, or nil: a token is
// sent to the server that it is of, and to no other.
func (c *contexts) at(server string) *signedIn {
	if now := c.named(c.Current); now != nil && sameServer(now.Server, server) {
		return now
	}
	i := slices.IndexFunc(c.Items, func(s signedIn) bool { return sameServer(s.Server, server) })
	if i < 0 {
		return nil
	}
	return &c.Items[i]
}

// put adds a context, in the place of one of its name, and makes it the current one.
func (c *contexts) put(s signedIn) {
	c.remove(s.Name)
	c.Items = append(c.Items, s)
	slices.SortFunc(c.Items, func(a, b signedIn) int { return strings.Compare(a.Name, b.Name) })
	c.Current = s.Name
}

func (c *contexts) remove(name string) {
	c.Items = slices.DeleteFunc(c.Items, func(s signedIn) bool { return s.Name == name })
	if c.Current == name {
		c.Current = ""
	}
}

// sameServer compares addresses as people type them.
func sameServer(a, b string) bool { return fullAddress(a) == fullAddress(b) }

func fullAddress(s string) string {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return strings.TrimSuffix(strings.ToLower(s), "/")
}
