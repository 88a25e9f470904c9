package database

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Layout says how tables are spread over servers.
type Layout struct {
	Database  string
	Cluster   string // its name in the servers' configuration; empty for one server
	Sharded   bool   // each server of the cluster holds a share of the rows
	TextIndex bool   // log lines are indexed by their words
}

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

func (l Layout) validate() error {
	switch {
	case !identifier.MatchString(l.Database):
		return &job.InvalidError{Field: "store", Reason: fmt.Sprintf("must end in the name of a database, as in clickhouse://HOST/carillon, of letters, digits and _; %q is none", l.Database)}
	case l.Cluster != "" && !identifier.MatchString(l.Cluster):
		return &job.InvalidError{Field: "store", Reason: fmt.Sprintf("has the cluster %q, which must be a name of letters, digits and _", l.Cluster)}
	case l.Sharded && l.Cluster == "":
		return &job.InvalidError{Field: "store", Reason: "has sharded without cluster, which names the servers"}
	}
	return nil
}

// OnCluster is the clause of statements that all servers run.
func (l Layout) OnCluster() string {
	if l.Cluster == "" {
		return ""
	}
	return "ON CLUSTER " + l.Cluster
}

// Local is the name of the table that holds rows, where name is the one to ask.
func (l Layout) Local(name string) string {
	if l.Sharded {
		return name + "_local"
	}
	return name
}

// Engine is an engine of the MergeTree family, replicated in a cluster.
func (l Layout) Engine(name string, args ...string) string {
	if l.Cluster != "" {
		name = "Replicated" + name
		args = append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, args...)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Everywhere is the engine of a table whose rows every server has.
func (l Layout) Everywhere(name string, args ...string) string {
	return strings.Replace(l.Engine(name, args...), "{uuid}/{shard}", "{uuid}/all", 1)
}

// Everyone is a table of the system's, as all servers of a sharded cluster have it; one
// replica of each shard speaks for it.
func (l Layout) Everyone(table string) string {
	if !l.Sharded {
		return table
	}
	return "cluster('" + l.Cluster + "', " + table + ")"
}

// Settings are those of all tables. Without a window, a table takes a block twice. From 26.4 on
// ClickHouse makes statistics of all columns when it merges, and looks into those of each part to
// plan a query: half a millisecond a part, and none of our queries is faster for it.
func (l Layout) Settings() string {
	const noStatistics = ", auto_statistics_types = ''"
	if l.Cluster != "" {
		return "replicated_deduplication_window = 10000" + noStatistics
	}
	return "non_replicated_deduplication_window = 10000" + noStatistics
}

// Distributed is the statement for the table that asks all shards, if there are any.
// All that concerns a run is on one shard.
func (l Layout) Distributed(name, key string) string {
	if !l.Sharded {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s %s AS %s\nENGINE = Distributed('%s', '%s', '%s', %s);\n",
		name, l.OnCluster(), l.Local(name), l.Cluster, l.Database, l.Local(name), key)
}

// Statuses are the members of an enum of the schema, as Causes and Kinds are.
func (Layout) Statuses() string { return enum(Statuses) }

// Causes is like Statuses.
func (Layout) Causes() string { return enum(Causes) }

// Kinds is like Statuses.
func (Layout) Kinds() string { return enum(Kinds) }

// FirstFinal is the constant, for templates.
func (Layout) FirstFinal() int { return FirstFinal }

// FingerprintLength and Variable say how messages of failures are compared.
func (Layout) FingerprintLength() int { return logstore.FingerprintLength }

// Variable is like FingerprintLength, as a literal.
func (Layout) Variable() string { return "'" + strings.ReplaceAll(logstore.Variable, `\`, `\\`) + "'" }
