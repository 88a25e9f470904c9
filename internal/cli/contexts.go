package cli

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

// SignedIn is a context: a server, and the token by which one is signed in there.
type SignedIn struct {
	Name      string    `json:"name"`
	Server    string    `json:"server"`
	User      string    `json:"user"`
	TokenID   string    `json:"token_id"`
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	CA        string    `json:"ca,omitempty"` // file of the authority that signed the server's certificate
}

// Contexts is what the file has. It holds tokens, so only its owner can read it.
type Contexts struct {
	Current string     `json:"current,omitempty"`
	Items   []SignedIn `json:"contexts"`
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

// ReadContexts returns the contexts, none when there is no file, or no folder for it.
func ReadContexts() (*Contexts, error) {
	path, err := contextsPath()
	if err != nil {
		return &Contexts{}, nil //nolint:nilerr // Save reports it
	}
	c := &Contexts{}
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

// Save replaces the file as a whole, so that a crash leaves the old or the new one.
func (c *Contexts) Save() error {
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

// Named returns the context of a name, or nil.
func (c *Contexts) Named(name string) *SignedIn {
	i := slices.IndexFunc(c.Items, func(s SignedIn) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Items[i]
}

// at returns a context of a server, preferably the current one, or nil. A token is sent only to
// the server that issued it.
func (c *Contexts) at(server string) *SignedIn {
	if now := c.Named(c.Current); now != nil && sameServer(now.Server, server) {
		return now
	}
	i := slices.IndexFunc(c.Items, func(s SignedIn) bool { return sameServer(s.Server, server) })
	if i < 0 {
		return nil
	}
	return &c.Items[i]
}

// Put adds a context, in the place of one of its name, and makes it the current one.
func (c *Contexts) Put(s SignedIn) {
	c.Remove(s.Name)
	c.Items = append(c.Items, s)
	slices.SortFunc(c.Items, func(a, b SignedIn) int { return strings.Compare(a.Name, b.Name) })
	c.Current = s.Name
}

// Remove removes the context of a name.
func (c *Contexts) Remove(name string) {
	c.Items = slices.DeleteFunc(c.Items, func(s SignedIn) bool { return s.Name == name })
	if c.Current == name {
		c.Current = ""
	}
}

// sameServer compares addresses as people type them.
func sameServer(a, b string) bool { return FullAddress(a) == FullAddress(b) }

// FullAddress returns an address as contexts have it, however a person has typed it.
func FullAddress(s string) string {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return strings.TrimSuffix(strings.ToLower(s), "/")
}
