package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

// commandOf says how each operation of the API is used from the command line: by which
// command, or after a hyphen why none needs to.
var commandOf = map[string]string{
	"acceptInvitation": "login", "acknowledgeIncident": "alert acknowledge", "addSilence": "alert silence", "snoozeIncident": "alert snooze", "verifyLedger": "ledger verify",
	"backfillJob": "backfill", "cancelRunOfKey": "cancel", "cancelBackfill": "backfill", "createBulkBackfill": "backfill", "pauseBulkBackfill": "backfill", "resumeBulkBackfill": "backfill",
	"cancelBulkBackfill": "backfill", "retryBulkBackfill": "backfill", "listBulkBackfills": "get backfills", "getBulkBackfill": "get backfills", "changeJobs": "pause", "patchJobs": "change", "changeRuns": "cancel", "cordonInstance": "cordon", "countFires": "report load",
	"countLogs": "search", "countRuns": "report outcomes", "collectDiagnostics": "diagnostics", "previewCalendar": "import calendar", "createCredential": "credential create", "createToken": "token create", "deleteAlert": "alert delete",
	"deleteCalendar": "delete", "deleteChannel": "alert delete", "deleteChannelSecret": "alert secret", "deleteJob": "delete",
	"deleteSecret": "secret delete", "deleteUser": "user delete", "diffJob": "get versions", "drainInstance": "drain", "endMySession": "session end",
	"endSilence": "alert unsilence", "endUserSessions": "session end", "exportAuditLog": "audit-log", "exportMonth": "report month", "exportRuns": "get runs", "facetRuns": "report breakdown",
	"followEvents": "events", "getAlert": "apply", "getCalendar": "apply", "getChannel": "apply", "getGroupUsage": "report usage", "getJobUsage": "report usage", "getHistory": "get history", "getPause": "get jobs",
	"getIncident": "get incidents", "getJob": "get jobs", "getJobLedger": "ledger show", "getLogs": "logs", "getMe": "whoami", "getOverview": "report overview",
	"getRetention": "get retention", "getRun": "get runs", "getStepHistory": "graph", "getUser": "user set-role", "getVersion": "version", "inviteUser": "user passwd",
	"listAlerts": "get alert-rules", "listAuditLog": "audit-log", "listBackfills": "backfill", "listCalendars": "get calendars", "listChannels": "get channels",
	"listCredentials": "get credentials", "listDeliveries": "get deliveries", "listDiscrepancies": "ledger verify", "listFires": "get fires", "listGroups": "get groups",
	"listHandlers": "get handlers", "listIncidents": "get incidents", "listJobVersions": "get versions", "listJobs": "get jobs",
	"listMySessions": "get sessions", "listNodes": "get nodes", "listPieces": "get runs", "listSteps": "get steps", "listRuns": "get runs", "listSecrets": "get secrets",
	"listSilences": "get silences", "listTokens": "get tokens", "listUserSessions": "get sessions", "listUsers": "get users",
	"getBus": "get bus", "listDeadLetters": "get dead-letters", "getDeadLetter": "get dead-letters",
	"replayDeadLetter": "dead-letter replay", "deleteDeadLetter": "dead-letter delete",
	"createPingToken": "watch token", "listPingTokens": "watch token", "revokePingToken": "watch token",
	"previewJob": "next", "previewRetention": "retention set", "putAlert": "apply", "tryAlert": "alert try", "putCalendar": "apply", "putChannel": "apply",
	"pauseGroup": "group pause", "putChannelSecret": "alert secret", "putGroup": "group set", "putJob": "apply", "putRetention": "retention set", "putSecret": "secret set",
	"putUser": "user create", "querySQL": "sql", "repairReports": "report repair", "reportFailures": "report failures", "reportMonth": "report month", "reportRuns": "report runs",
	"resolveIncident": "alert resolve", "rerunRun": "rerun", "resolveStep": "resolve", "retryStep": "retry", "holdRun": "pause run", "resumeRun": "resume run", "approveStep": "approve", "rejectStep": "reject",
	"signalRun": "signal", "signalJob": "signal", "listApprovals": "get approvals", "listDeadlines": "get deadlines", "revokeCredential": "credential revoke",
	"revokeToken": "token revoke", "rotateCredential": "credential rotate", "runFireEarly": "run", "runJob": "run", "searchLogs": "search", "setPause": "pause", "skipFire": "skip", "unskipFire": "skip",
	"setInstance": "set", "setMyPassword": "user passwd", "signIn": "login", "signOut": "login", "tailLogs": "logs", "testChannel": "alert test",
	"uncordonInstance": "uncordon", "watchLogs": "search", "whyJob": "why",

	"runJobs":              "- for programs: carillon run runs one job",
	"cancelRun":            "- carillon cancel asks by ChangeRuns",
	"markRun":              "- carillon mark asks by ChangeRuns",
	"pauseJob":             "- carillon pause asks by ChangeJobs",
	"resumeJob":            "- carillon resume asks by ChangeJobs",
	"beginProviderSignIn":  "- sends a browser to the provider",
	"pingJob":              "- carillon watch pings by a client of its own, which starts fast",
	"countJobs":            "- carillon list prints how many jobs match",
	"facetJobs":            "- what the console offers to filter jobs by",
	"findInLogs":           "- carillon logs prints the lines, and grep finds in them",
	"nameJobs":             "- what the console calls jobs in lists of runs",
	"suggestOffsets":       "- the load map asks; who writes a schedule can say H, or spread, by hand",
	"finishProviderSignIn": "- where the provider sends the browser back to",
	"getSignIn":            "- what a sign-in page offers",
	"readInvitation":       "- what a sign-in page says of a link",
	"previewSchedule":      "- carillon next computes it without a server",
	"readCrontab":          "- carillon import crontab reads it without a server",
	"readCalendarFile":     "- carillon import calendar reads it without a server",
	"readXXLJob":           "- carillon import xxl-job reads it without a server",
	"callTools":            "- carillon mcp serves the same tools",
	"getReference":         "- a page",
	"getContract":          "- a file for generators",
	"healthz":              "- a probe",
	"readyz":               "- a probe",
	"metrics":              "- for Prometheus",
}

// byPath are the operations whose answers are streams, which commands ask for by their
// paths rather than by the generated client's methods.
var byPath = map[string]string{"exportAuditLog": "/api/v1/audit-log/export", "exportMonth": "/api/v1/reports/month/export", "exportRuns": "/api/v1/runs/export", "followEvents": "/api/v1/events", "tailLogs": "/logs/tail", "watchLogs": "/api/v1/logs/tail"}

// operations returns the ids of all operations of the contract.
func operations(t *testing.T) []string {
	t.Helper()
	var contract struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	data, err := os.ReadFile("../../api/openapi.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &contract)
	}
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, path := range contract.Paths {
		for _, o := range path {
			if o, ok := o.(map[string]any); ok && o["operationId"] != nil {
				ids = append(ids, o["operationId"].(string))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// sources returns the text of the client commands, and of what they call the API by.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*.go", "../../internal/cli/*.go", "../../internal/cli/*/*.go", "../../internal/client/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") || strings.HasSuffix(f, ".gen.go") {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
	}
	return all.String()
}

func TestTheCommandLineCanDoAllThatTheAPICan(t *testing.T) {
	root, code, ids := cli.NewRoot(commands()...), sources(t), operations(t)
	if len(ids) < 100 {
		t.Fatalf("the contract has %d operations", len(ids))
	}
	for _, id := range ids {
		command, has := commandOf[id]
		if !has {
			t.Errorf("operation %s has no command: build one and give it a row here, or say why none is needed", id)
			continue
		}
		if strings.HasPrefix(command, "- ") {
			continue
		}
		words := strings.Fields(command)
		if cmd, rest, err := root.Find(words); err != nil || len(rest) > 0 || cmd.CommandPath() != "carillon "+command {
			t.Errorf("operation %s: there is no command %q", id, command)
		}
		if path, streamed := byPath[id]; streamed {
			if !strings.Contains(code, path) {
				t.Errorf("operation %s: no command asks for %s", id, path)
			}
			continue
		}
		method := strings.ToUpper(id[:1]) + id[1:]
		if !regexp.MustCompile(`\.` + method + `(WithBody)?\(`).MatchString(code) {
			t.Errorf("operation %s: no command calls %s", id, method)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(commandOf)) {
		if !slices.Contains(ids, id) {
			t.Errorf("operation %s is not in the contract any more", id)
		}
	}
}
