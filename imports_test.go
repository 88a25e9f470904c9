package carillon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

const module = "github.com/carillon-scheduler/carillon"

// anything is the row of folders that put the program together.
var anything = []string{"..."}

// mayImport is the architecture: which of our folders a folder's packages may
// import. They may always import each other, and packages under internal that
// import nothing of ours that they may not. The most specific row counts. docs/explanation/architecture.md
// draws this table.
var mayImport = map[string][]string{
	".":                    {}, // the root holds tests only
	"job":                  {},
	"api":                  {"job"},
	"bus":                  {"job", "bus/loglevel"},
	"bus/loglevel":         {},
	"bus/jet":              {"job", "bus", "bus/doubling"},
	"bus/doubling":         {},
	"bus/seal":             {},
	"bus/recent":           {},
	"journal":              {"job", "bus"},
	"cluster":              {"job", "journal", "bus", "bus/jet"},
	"cluster/embedded":     {"bus/doubling"},
	"cluster/bustest":      {"bus", "cluster/embedded", "job"},
	"cluster/clustertest":  {"bus/jet", "cluster", "cluster/bustest"},
	"scheduler":            {"job", "journal", "bus", "bus/jet", "cluster", "scheduler/shard", "bus/doubling"},
	"scheduler/shard":      {"job", "journal", "bus", "scheduler"}, // decides, and needs no connection
	"scheduler/orphans":    {"job", "journal", "bus", "bus/jet", "cluster", "logstore", "bus/doubling"},
	"executor":             {"job", "bus", "bus/jet", "bus/seal", "bus/recent"},
	"client":               {}, // of applications
	"runner":               {"job", "executor"},
	"bridge":               {"job", "bus", "bus/jet", "bus/recent", "bus/doubling"},
	"bridge/xxljob/jobapi": {"bridge", "job", "api"},
	"bridge/xxljob/admin":  {"bridge", "bridge/xxljob/jobapi", "job", "bus/doubling"},
	"examples":             {"executor"},
	"runner/runnertest":    {"job", "bus", "bus/jet", "cluster", "cluster/bustest", "cluster/clustertest", "executor"},
	"auth":                 {"job", "bus", "bus/jet", "cluster", "bus/doubling"},
	"audit":                {"job", "bus", "bus/jet", "cluster"},
	"logstore":             {"job"},
	"logstore/ingest":      {"job", "journal", "bus", "bus/jet", "cluster", "logstore", "bus/doubling"},
	"logstore/standin":     {"job", "journal", "bus", "bus/jet", "cluster", "logstore", "logstore/ingest"},
	"logstore/targets":     {"job", "bus", "cluster", "logstore"},
	"logstore/waits":       {"job", "bus", "cluster", "logstore", "ledger"},
	"alert":                {"job", "journal", "bus", "bus/jet", "cluster", "bus/seal", "bus/doubling"},
	"ledger":               {"job", "journal", "bus", "bus/jet", "cluster", "logstore"},
	"webapi":               slices.Concat(ofWebapi, []string{"job", "api", "journal", "bus", "bus/jet", "cluster", "bus/seal", "auth", "audit", "alert", "logstore", "ledger", "frontend"}),
	"frontend":             {},
	"internal":             anything,

	"webapi/problem":  {"job", "api", "cluster", "auth"},
	"webapi/access":   {"webapi/problem", "job", "api", "auth", "logstore"},
	"webapi/guard":    {"webapi/problem", "webapi/access", "job", "api", "auth"},
	"webapi/contract": {"webapi/problem", "webapi/access", "job", "api"},
	"webapi/auditlog": {"webapi/problem", "webapi/access", "job", "api", "cluster", "audit", "logstore"},
	"webapi/nodes":    {"webapi/problem", "webapi/access", "job", "api", "bus", "bus/jet", "cluster"},
	"webapi/catalog":  {"webapi/problem", "webapi/access", "webapi/auditlog", "webapi/nodes", "job", "api", "bus", "bus/jet", "cluster", "logstore"},
	"webapi/ping":     {"webapi/problem", "webapi/access", "webapi/catalog", "job", "api", "bus", "cluster", "auth"},
	"webapi/runs":     {"webapi/problem", "webapi/access", "webapi/auditlog", "webapi/nodes", "webapi/catalog", "job", "api", "journal", "bus", "cluster", "logstore", "logstore/waits", "ledger"},
	"webapi/bulk":     {"webapi/problem", "webapi/access", "webapi/auditlog", "webapi/catalog", "webapi/runs", "job", "api", "cluster", "logstore"},
	"webapi/stream":   {"webapi/problem", "webapi/access", "webapi/runs", "job", "api", "auth", "journal", "bus", "bus/jet", "cluster", "logstore"},
	"webapi/export":   {"webapi/problem", "webapi/access", "job", "auth", "logstore"},
	"webapi/month":    {"webapi/problem", "webapi/access", "webapi/auditlog", "webapi/catalog", "job", "api", "audit", "alert", "logstore"},
	"webapi/alerts":   {"webapi/problem", "webapi/access", "webapi/auditlog", "webapi/catalog", "job", "api", "cluster", "alert", "logstore"},

	"cmd":                        {"internal/cli", "internal/cli/all", "internal/cli/elsewhere", "internal/node", "internal/bench", "internal/conformance"},
	"internal/conformance":       {"job", "bus", "executor", "internal/cli"},
	"internal/bench":             {"bridge", "bridge/xxljob/admin", "job", "journal", "bus", "bus/jet", "cluster", "cluster/embedded", "scheduler", "executor", "logstore", "logstore/ingest", "webapi", "internal/cli", "internal/cli/draw"},
	"internal/benchtool":         {"internal/bench", "internal/cli"},
	"internal/node":              {"bridge", "bridge/xxljob/admin", "bridge/xxljob/jobapi", "api", "job", "bus", "bus/jet", "cluster", "bus/doubling", "bus/seal", "cluster/embedded", "scheduler", "executor", "runner", "auth", "alert", "ledger", "logstore", "logstore/ingest", "logstore/standin", "scheduler/orphans", "logstore/targets", "logstore/waits", "webapi", "internal/cli", "internal/cli/draw", "internal/demo"},
	"internal/demo":              {"job", "api", "executor", "internal/cli/draw"},
	"internal/operator":          {".", "job", "bus", "bus/jet", "cluster", "bus/seal", "cluster/embedded", "auth", "audit", "logstore", "logstore/ingest", "internal/cli", "internal/cli/draw", "internal/node"},
	"internal/cli/all":           slices.Concat(nouns, []string{"internal/cli", "internal/operator"}),
	"internal/cli/clitest":       {"internal/cli", "internal/cli/all", "internal/node"},
	"internal/cli/job":           append([]string{"internal/cli/selection", "internal/cli/run", "internal/cli/manifest"}, ofCommands...),
	"internal/cli/run":           append([]string{"internal/cli/selection"}, ofCommands...),
	"internal/cli/history":       append([]string{"internal/cli/selection"}, ofCommands...),
	"internal/cli/manifest":      ofCommands,
	"internal/cli/executor":      ofCommands,
	"internal/cli/alert":         ofCommands,
	"internal/cli/elsewhere":     ofCommands,
	"internal/cli/pings":         ofCommands,
	"internal/cli/assist":        ofCommands,
	"internal/cli/access":        ofCommands,
	"internal/cli/cluster":       ofCommands,
	"internal/cli/top":           ofCommands,
	"internal/cli/selection":     ofCommands,
	"internal/cli":               {"job", "api", "internal/cli/draw"},
	"internal/cli/draw":          {"job"},
	"internal/cli/draw/drawtest": {"job", "api", "internal/cli/draw"},
}

// ofWebapi are the packages under webapi, which its handlers put together. knowNoHTTP are those of
// them whose acts an import or a program may call as a request does.
var (
	ofWebapi = []string{
		"webapi/access", "webapi/alerts", "webapi/auditlog", "webapi/bulk", "webapi/catalog", "webapi/nodes", "webapi/contract",
		"webapi/export", "webapi/guard", "webapi/month", "webapi/ping", "webapi/problem", "webapi/runs", "webapi/stream",
	}
	knowNoHTTP = []string{"webapi/access", "webapi/alerts", "webapi/auditlog", "webapi/bulk", "webapi/catalog", "webapi/month", "webapi/nodes", "webapi/ping", "webapi/runs"}
)

// nouns are the folders of client commands, and ofCommands what each of them may import.
var (
	nouns = []string{
		"internal/cli/access", "internal/cli/alert", "internal/cli/assist", "internal/cli/cluster", "internal/cli/elsewhere", "internal/cli/executor", "internal/cli/history",
		"internal/cli/job", "internal/cli/manifest", "internal/cli/pings", "internal/cli/run", "internal/cli/top",
	}
	ofCommands = []string{"job", "api", "internal/cli", "internal/cli/draw"}
)

// onlyLinkedBy keeps what is heavy out of the programs of those who link the
// rest: the packages on the left reach only binaries made of those on the right.
var onlyLinkedBy = map[string][]string{
	"github.com/carillon-scheduler/carillon/cluster/embedded":  {"cluster/bustest", "cluster/clustertest", "runner/runnertest", "cmd", "internal"},
	"github.com/carillon-scheduler/carillon/scheduler":         {"cmd", "internal"},
	"github.com/nats-io/nats-server":                           {"cluster/embedded", "cluster/bustest", "cluster/clustertest", "runner/runnertest", "cmd", "internal"},
	"github.com/gofiber":                                       {"webapi", "cmd", "internal"},
	"github.com/modelcontextprotocol":                          {"webapi", "cmd", "internal"},
	"cel.dev/cel-go":                                           {"scheduler", "ledger", "logstore/waits", "webapi", "cmd", "internal"},
	"go.opentelemetry.io/otel/sdk":                             {"cmd", "internal"},
	"google.golang.org/grpc":                                   {}, // internal/otlp does without it
	"github.com/ClickHouse":                                    {"logstore/clickhouse", "cmd", "internal"},
	"modernc.org/sqlite":                                       {"logstore/sqlite", "cmd", "internal"},
	"github.com/carillon-scheduler/carillon/internal/chserver": {"internal/clickhoused"}, // a tool of development
}

// neverLinked keeps the server out of its clients, and connections out of what decides: the packages
// on the left, and those of nouns, reach none of those on the right, nor what is below them.
var neverLinked = map[string][]string{
	"bus":                    {"github.com/carillon-scheduler/carillon/journal", "github.com/carillon-scheduler/carillon/bus/jet", "github.com/carillon-scheduler/carillon/cluster", "github.com/carillon-scheduler/carillon/job/reason/finding", "github.com/carillon-scheduler/carillon/job/reason/refusal", "github.com/nats-io/nats.go/jetstream"},
	"bus/jet":                {"github.com/carillon-scheduler/carillon/cluster"},
	"executor":               {"github.com/carillon-scheduler/carillon/journal", "github.com/carillon-scheduler/carillon/cluster", "github.com/carillon-scheduler/carillon/job/reason/finding", "github.com/carillon-scheduler/carillon/job/reason/refusal"},
	"scheduler/shard":        {"github.com/carillon-scheduler/carillon/bus/jet", "github.com/carillon-scheduler/carillon/cluster"},
	"api":                    {"github.com/carillon-scheduler/carillon/alert", "github.com/carillon-scheduler/carillon/audit", "github.com/carillon-scheduler/carillon/auth", "github.com/carillon-scheduler/carillon/bus", "github.com/carillon-scheduler/carillon/ledger", "github.com/carillon-scheduler/carillon/logstore", "github.com/carillon-scheduler/carillon/webapi"},
	"internal/client":        ofServers,
	"internal/cli":           ofServers,
	"internal/elsewhere":     ofServers,
	"internal/cli/draw":      ofServers,
	"internal/cli/selection": ofServers,
}

// ofServers are what no client links.
var ofServers = []string{
	"github.com/carillon-scheduler/carillon/alert", "github.com/carillon-scheduler/carillon/audit", "github.com/carillon-scheduler/carillon/auth", "github.com/carillon-scheduler/carillon/bus", "github.com/carillon-scheduler/carillon/executor", "github.com/carillon-scheduler/carillon/ledger", "github.com/carillon-scheduler/carillon/logstore",
	"github.com/carillon-scheduler/carillon/scheduler", "github.com/carillon-scheduler/carillon/webapi", "github.com/nats-io", "github.com/wneessen",
}

// standardOnly lists the folders that link nothing but the standard library.
var standardOnly = []string{".", "job", "api", "client", "frontend"}

func TestImportsFollowTheArchitecture(t *testing.T) {
	tree := parseTree(t)
	for _, pkg := range slices.Sorted(maps.Keys(tree)) {
		row, known := rowOf(pkg)
		if !known {
			t.Errorf("%s: give it a row in mayImport and a place in docs/explanation/architecture.md", pkg)
			continue
		}
		for _, imp := range tree[pkg].imports {
			if isOurs(imp) && !mayImportFrom(tree, row, imp) {
				t.Errorf("%s must not import %s", pkg, imp)
			}
		}
	}
}

func TestHeavyPackagesStayOutOfLibraries(t *testing.T) {
	tree := parseTree(t)
	for _, pkg := range slices.Sorted(maps.Keys(tree)) {
		for _, dep := range tree.reachable(pkg) {
			for heavy, allowed := range onlyLinkedBy {
				if within(dep, heavy) && !within(pkg, heavy) && !inAny(pkg, allowed) {
					t.Errorf("%s must not link %s", pkg, dep)
				}
			}
			if inAny(pkg, standardOnly) && !isOurs(dep) && !isStandard(dep) {
				t.Errorf("%s must link the standard library only, not %s", pkg, dep)
			}
		}
	}
}

func TestClientsLinkNoServer(t *testing.T) {
	tree := parseTree(t)
	rows := maps.Clone(neverLinked)
	for _, noun := range nouns {
		rows[noun] = ofServers
	}
	for client, servers := range rows {
		deps := tree.reachable(path.Join(module, client))
		if len(deps) == 0 {
			t.Errorf("%s is gone: its row in neverLinked holds nothing", client)
		}
		for _, dep := range deps {
			if slices.ContainsFunc(servers, func(server string) bool { return within(dep, server) }) {
				t.Errorf("%s must not link %s", client, dep)
			}
		}
	}
}

func TestActsKnowNoHTTP(t *testing.T) {
	tree := parseTree(t)
	for _, folder := range knowNoHTTP {
		for _, dep := range tree.reachable(path.Join(module, folder)) {
			if within(dep, "github.com/gofiber") || within(dep, "github.com/valyala") {
				t.Errorf("%s must not link %s", folder, dep)
			}
		}
	}
}

// The modules that outsiders fetch hold everything that they need: else fetching one would fetch the
// server. Their tests, too, do without it, since "go mod tidy" fetches what those import.
func TestTheModulesOfTheSDKImportNothingAboveThem(t *testing.T) {
	for folder, modules := range map[string][]string{"job": {"job"}, "bus": {"job", "bus"}, "executor": {"job", "bus", "executor"}, "client": {"client"}} {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				imp, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if isOurs(imp) && !inAny(imp, modules) {
					t.Errorf("%s must not import %s, which is in the main module", name, imp)
				}
				if within(imp, "github.com/nats-io/nats-server") {
					t.Errorf("%s must not import %s: go mod tidy would fetch it for each program with an executor", name, imp)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheEmbeddedServerHasTheConfigurationOfTheRoot(t *testing.T) {
	root, err := os.ReadFile("nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if embedded.DefaultConf != string(root) {
		t.Error("cluster/embedded/nats.conf is not nats.conf: copy it (cp nats.conf cluster/embedded/)")
	}
}

func TestEachPackageExplainsItselfOnce(t *testing.T) {
	for pkg, p := range parseTree(t) {
		if len(p.documented) != 1 {
			t.Errorf("%s has %d package comments, in %v; want one, in doc.go or beside func main", pkg, len(p.documented), p.documented)
		}
	}
}

// mayImportFrom reports whether a package with this row may import imp.
func mayImportFrom(tree sourceTree, row, imp string) bool {
	allowed := mayImport[row]
	to, known := rowOf(imp)
	switch {
	case !known:
		return false
	case to == row, slices.Equal(allowed, anything), slices.Contains(allowed, to):
		return true
	case to == "internal":
		return !slices.ContainsFunc(tree[imp].imports, func(theirs string) bool {
			return isOurs(theirs) && !mayImportFrom(tree, row, theirs)
		})
	}
	return false
}

// rowOf returns the most specific row of mayImport for one of our packages:
// logstore/ingest has one of its own, logstore/sqlite has that of logstore.
func rowOf(pkg string) (row string, known bool) {
	for folder := folderOf(pkg); ; folder = path.Dir(folder) {
		if _, known := mayImport[folder]; known {
			return folder, folder != "." || pkg == module
		}
		if folder == "." {
			return "", false
		}
	}
}

// source is what the files of a package, without its tests, say in their heads.
type source struct {
	imports    []string
	documented []string // the files with a package comment
}

// sourceTree holds our packages by import path.
type sourceTree map[string]source

// parseTree reads the files itself. Were it to run "go list", go test would not
// see what the answer depends on and would serve a stale result from its cache.
func parseTree(t *testing.T) sourceTree {
	t.Helper()
	tree := sourceTree{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && isOutside(d.Name()):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := path.Join(module, filepath.ToSlash(filepath.Dir(name)))
		tree[pkg] = tree[pkg].with(t, name, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (s source) with(t *testing.T, name string, file *ast.File) source {
	t.Helper()
	if file.Doc.Text() != "" && !strings.HasSuffix(name, ".gen.go") { // a generator's heading explains nothing
		s.documented = append(s.documented, name)
	}
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		s.imports = append(s.imports, imp)
	}
	return s
}

// reachable returns every import path that pkg reaches through our packages.
func (tree sourceTree) reachable(pkg string) []string {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(p string) {
		for _, imp := range tree[p].imports {
			if !seen[imp] {
				seen[imp] = true
				visit(imp)
			}
		}
	}
	visit(pkg)
	return slices.Sorted(maps.Keys(seen))
}

// isOutside reports whether the go command does not look into such a folder.
func isOutside(folder string) bool {
	return folder == "testdata" || folder == "node_modules" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func isOurs(imp string) bool { return within(imp, module) }

// isStandard relies on the rule that the first element of any other module's path
// has a dot.
func isStandard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

// within reports whether imp is pkg or lies below it.
func within(imp, pkg string) bool {
	return imp == pkg || strings.HasPrefix(imp, pkg+"/")
}

// inAny reports whether one of our packages is in one of the folders.
func inAny(pkg string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		if folder == "." {
			return pkg == module
		}
		return within(folderOf(pkg), folder)
	})
}

// folderOf returns the folder of one of our packages, "." for the root.
func folderOf(pkg string) string {
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}
