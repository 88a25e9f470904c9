package alert

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// heartbeatEvery is how often a monitor elsewhere hears from the cluster.
const heartbeatEvery = time.Minute

// checkHeartbeat checks [Config.HeartbeatURL]. The error is an *InvalidError.
func checkHeartbeat(address string) error {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return job.Invalid("heartbeat_url", "must be an address such as https://monitor.example.org/ping/7f3a")
	}
	return nil
}

// heartbeat calls [Config.HeartbeatURL] every minute while all shards have a node, until ctx is done. When
// the calls stop, the monitor alerts people: no server works, NATS is down, or some jobs do not fire.
func (a *Alerter) heartbeat(ctx context.Context) error {
	if a.cfg.HeartbeatURL == "" {
		return nil
	}
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for failing := false; ; {
		err := a.beat(ctx)
		switch {
		case err != nil && !failing && ctx.Err() == nil:
			a.log.WarnContext(ctx, "heartbeat not sent", "error", err)
		case err == nil && failing:
			a.log.InfoContext(ctx, "heartbeat sent again")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// beat calls the monitor once, if all is well.
func (a *Alerter) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTimeout, errors.New("no answer"))
	defer cancel()
	owned, err := a.conn.Nodes().ShardsOwned(ctx)
	if err != nil {
		return err
	}
	if all := a.conn.Cluster().Shards; owned < all {
		return fmt.Errorf("%d of %d shards have no node", all-owned, all)
	}
	_, err = a.out.call(ctx, a.cfg.HeartbeatURL, nil, []byte("{}"))
	return err
}
