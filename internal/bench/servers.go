package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/loopback"
)

// startServers starts so many servers in folders of their own: one by itself, or more as a cluster.
// config is a file for the only one; "" is the built-in one. All those that run are returned, with an
// error, too.
func startServers(ctx context.Context, dir string, n int, config string) ([]*embedded.Server, error) {
	if n == 1 {
		s, err := embedded.Start(embedded.Config{ConfigFile: config, StoreDir: dir, ServerName: "bench", Listen: "127.0.0.1:0", Alone: true})
		if err != nil {
			return nil, err
		}
		return []*embedded.Server{s}, nil
	}
	files, err := clusterFiles(ctx, dir, n)
	if err != nil {
		return nil, err
	}
	servers := make([]*embedded.Server, n)
	var all errgroup.Group
	for i := range servers { // at the same time, since none is ready before most are
		all.Go(func() (err error) {
			name := "bench-" + strconv.Itoa(i)
			servers[i], err = embedded.Start(embedded.Config{ConfigFile: files[i], StoreDir: filepath.Join(dir, name), ServerName: name, Listen: "127.0.0.1:0"})
			return err
		})
	}
	return servers, all.Wait()
}

// clusterFiles writes the configuration of each server of a cluster: the built-in one, and how it finds
// the others.
func clusterFiles(ctx context.Context, dir string, n int) ([]string, error) {
	routes, err := freeAddresses(ctx, n)
	if err != nil {
		return nil, err
	}
	files := make([]string, n)
	for i, own := range routes {
		files[i] = filepath.Join(dir, fmt.Sprintf("nats-%d.conf", i))
		text := fmt.Sprintf("%s\ncluster { name: bench, listen: \"%s\", routes: [\"nats://%s\"] }\n", embedded.DefaultConf, own, strings.Join(routes, `", "nats://`))
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// freeAddresses returns different addresses of loopback on which nobody listens.
func freeAddresses(ctx context.Context, n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		port, err := loopback.Reserve(ctx)
		if err != nil {
			return nil, err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	return addresses, nil
}

func stopServers(servers []*embedded.Server) error {
	var errs []error
	for _, s := range servers {
		if s != nil {
			errs = append(errs, s.Shutdown())
		}
	}
	return errors.Join(errs...)
}
