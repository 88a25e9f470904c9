package cluster

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetNodesCommand() *cobra.Command {
	return cli.List[client.NodeList]{
		Use:     "nodes",
		Short:   "List scheduler nodes and their shards",
		Example: "  carillon get nodes",
		Fetch: func(ctx context.Context, api *client.API) (client.NodeList, error) {
			return client.Read[client.NodeList](api.ListNodes(ctx))
		},
		Columns: drawNodes,
	}.Command()
}

func drawNodes(t *draw.Table, nodes client.NodeList) {
	if len(nodes.Items) > 0 {
		t.Row("NODE", "SHARDS", "WHICH")
	}
	for _, n := range nodes.Items {
		t.Row(t.Cell(n.Node, 60), strconv.Itoa(len(n.Shards)), draw.OrDash(draw.Ranges(n.Shards)))
	}
	if len(nodes.Items) == 0 {
		t.Line("no nodes; nothing fires until you start a server")
	}
	if len(nodes.Unowned) > 0 {
		t.Line(fmt.Sprintf("%d of %d shards have no owner at the moment: %s", len(nodes.Unowned), nodes.Shards, draw.Ranges(nodes.Unowned)))
	}
	for _, p := range nodes.Parked {
		t.Line(fmt.Sprintf("shard %d does not fire: %s", p.Shard, p.Reason))
	}
}
