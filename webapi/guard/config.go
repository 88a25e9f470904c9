package guard

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
)

// Config says how clients reach the server, and who answers for it.
type Config struct {
	// TLS says that the server speaks TLS, and BehindProxy that a proxy in front of it does.
	TLS, BehindProxy bool
	// Local takes everybody on this machine for an administrator.
	Local bool
	// LocalUser is the name of whoever is on this machine and sends none. Defaults to local.
	LocalUser string
	// Hosts are names by which clients may call the server besides those of loopback.
	Hosts []string
	// GroupOfRun and GroupOfIncident return the group of what a path names.
	GroupOfRun, GroupOfIncident func(*fiber.Ctx) (string, error)
	// LongPing answers a ping whose body has more than MaxPing bytes, which are not read. Nil refuses it.
	LongPing func(*fiber.Ctx) error
	MaxPing  int
	// Observe hears of each request that was answered.
	Observe func(method string, status int, took time.Duration)
}

// Guard is safe for concurrent use.
type Guard struct {
	cfg   Config
	users *auth.Directory
	log   *slog.Logger
	slots *slots
	heads sync.Map // of pings in several pieces, by the *fasthttp.RequestHeader that they are copies of
}

// New returns a guard that asks users who somebody is.
func New(users *auth.Directory, cfg Config, log *slog.Logger) *Guard {
	return &Guard{cfg: cfg, users: users, log: log, slots: newSlots()}
}
