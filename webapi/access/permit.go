package access

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Permit says what a request needs: a role, and where.
type Permit struct {
	Role  rights.Role
	Where Place
	Grant rights.Grant // needed too, in that group; empty is none
	// Scope is what a token may be limited to and still do the operation; empty is nothing.
	Scope rights.Scope
	// OnlyToken says that a request must have an API token: sessions, and who is local, do not count.
	OnlyToken bool
	// Change is what the operation changes, for its entry in the audit log: a template
	// with the names of the path. Empty is nothing.
	Change string
	// Each says that the operation changes many things, each as another operation would,
	// which decides who may and gives it its entry (package bulk).
	Each bool
	// Costly says that an answer can take a second of a processor, or read much of the history. Few are
	// made at once (package guard).
	Costly bool
}

// Place says in which executor group a role is needed.
type Place int

// The places.
const (
	Open       Place = iota // nowhere: anybody may, without signing in
	Self                    // nowhere: whoever is signed in, about themselves
	Somewhere               // in some group: what is the same for all, or a list that is filtered
	Everywhere              // in all groups
	Asking                  // in all groups, with the grants for all that the history has: auth.AccessList.MayAsk
	OfPath                  // in that of the path
	OfRun                   // in that of the stored run that the path names
	OfIncident              // in that of the stored incident that the path names
)

// Permits is the one place that says who may do what: what each operation of the
// contract needs. The group is that of the stored object which the path names, never
// of what the body says; a job's group is part of its identity, and the handler takes
// no body that names another. What handlers add: lists leave out what the caller may
// not see, and documents what the caller has no grant for, by HiddenJob.
var Permits = map[string]Permit{
	"getReference": {Where: Open},
	"getContract":  {Where: Open},
	"healthz":      {Where: Open},
	"readyz":       {Where: Open},
	"getSignIn":    {Where: Open},
	"signIn":       {Where: Open, Change: "session"},
	"signOut":      {Where: Open, Change: "session"},

	"beginProviderSignIn":  {Where: Open},
	"finishProviderSignIn": {Where: Open, Change: "session"},

	"readInvitation":   {Where: Open},
	"acceptInvitation": {Where: Open, Change: "password"},

	"getMe":          {Where: Self},
	"setMyPassword":  {Where: Self, Change: "password"},
	"listMySessions": {Where: Self},
	"endMySession":   {Where: Self, Change: "session {session}"},
	"getVersion":     {Where: Self},
	"listTokens":     {Where: Self}, // of others: an admin, by otherUser
	"createToken":    {Where: Self, Change: "token"},
	"revokeToken":    {Where: Self, Change: "token {token}"},

	"listJobs":        {Role: rights.Viewer, Where: Somewhere},
	"countJobs":       {Role: rights.Viewer, Where: Somewhere},
	"facetJobs":       {Role: rights.Viewer, Where: Somewhere},
	"nameJobs":        {Role: rights.Viewer, Where: Somewhere},
	"getJob":          {Role: rights.Viewer, Where: OfPath},
	"putJob":          {Role: rights.Editor, Where: OfPath, Change: "job {group}/{name}"},
	"deleteJob":       {Role: rights.Editor, Where: OfPath, Change: "job {group}/{name}"},
	"listJobVersions": {Role: rights.Viewer, Where: OfPath},
	"diffJob":         {Role: rights.Viewer, Where: OfPath, Costly: true},
	"pauseJob":        {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"resumeJob":       {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"skipFire":        {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"unskipFire":      {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"runFireEarly":    {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"changeJobs":      {Role: rights.Operator, Where: Somewhere, Each: true},
	"patchJobs":       {Role: rights.Editor, Where: Somewhere, Change: "jobs", Costly: true}, // each job as putJob (package bulk)
	"runJob":          {Role: rights.Operator, Where: OfPath, Scope: rights.Start, Change: "job {group}/{name}"},
	"cancelRunOfKey":  {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}"},
	"pingJob":         {Role: rights.Operator, Where: OfPath, Scope: rights.Ping}, // of a run, not of the job: no entry
	"listPingTokens":  {Role: rights.Viewer, Where: OfPath},
	"createPingToken": {Role: rights.Editor, Where: OfPath, Change: "ping token of job {group}/{name}"},
	"revokePingToken": {Role: rights.Editor, Where: OfPath, Change: "ping token {ping_token} of job {group}/{name}"},
	"previewJob":      {Role: rights.Viewer, Where: OfPath, Costly: true},
	"previewSchedule": {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"readCrontab":     {Role: rights.Viewer, Where: Somewhere, Costly: true}, // these read what they are sent, and nothing else
	"readXXLJob":      {Role: rights.Viewer, Where: Somewhere, Costly: true},

	"readCalendarFile": {Role: rights.Viewer, Where: Somewhere, Costly: true}, // as those

	"backfillJob":    {Role: rights.Operator, Where: OfPath, Change: "job {group}/{name}", Costly: true},
	"listBackfills":  {Role: rights.Viewer, Where: OfPath},
	"cancelBackfill": {Role: rights.Operator, Where: OfPath, Change: "backfill {backfill} of job {group}/{name}"},

	// A backfill of many jobs: its handlers ask, for each group, for what backfillJob needs (package bulk).
	"listBulkBackfills":  {Role: rights.Viewer, Where: Somewhere},
	"createBulkBackfill": {Role: rights.Operator, Where: Somewhere, Change: "backfill", Costly: true},
	"getBulkBackfill":    {Role: rights.Viewer, Where: Somewhere},
	"pauseBulkBackfill":  {Role: rights.Operator, Where: Somewhere, Change: "backfill {backfill}"},
	"resumeBulkBackfill": {Role: rights.Operator, Where: Somewhere, Change: "backfill {backfill}"},
	"cancelBulkBackfill": {Role: rights.Operator, Where: Somewhere, Change: "backfill {backfill}"},
	"retryBulkBackfill":  {Role: rights.Operator, Where: Somewhere, Change: "backfill {backfill}"},

	"getJobLedger":   {Role: rights.Viewer, Where: OfPath, Costly: true},
	"getStepHistory": {Role: rights.Viewer, Where: OfPath, Costly: true},
	"verifyLedger":   {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"getJobUsage":    {Role: rights.Viewer, Where: OfPath},
	"whyJob":         {Role: rights.Viewer, Where: OfPath, Costly: true},

	"listDiscrepancies": {Role: rights.Viewer, Where: Somewhere}, // of groups that the caller sees

	"getPause": {Role: rights.Viewer, Where: Somewhere},
	"setPause": {Role: rights.Operator, Where: Everywhere, Change: "global pause"},

	"querySQL": {Role: rights.Viewer, Where: Asking, Costly: true},

	"callTools": {Role: rights.Viewer, Where: Somewhere, OnlyToken: true}, // each tool as the operation that it asks

	"getHistory":       {Role: rights.Viewer, Where: Somewhere},
	"listDeadLetters":  {Role: rights.Admin, Where: Everywhere}, // they say what runs of any group have said
	"getDeadLetter":    {Role: rights.Admin, Where: Everywhere},
	"deleteDeadLetter": {Role: rights.Admin, Where: Everywhere, Change: "dead letter {sequence}"},
	"replayDeadLetter": {Role: rights.Admin, Where: Everywhere, Change: "dead letter {sequence}"},

	"getRetention":     {Role: rights.Viewer, Where: Everywhere},
	"previewRetention": {Role: rights.Viewer, Where: Everywhere, Costly: true},
	"putRetention":     {Role: rights.Admin, Where: Everywhere, Change: "retention"},

	"listCalendars":   {Role: rights.Viewer, Where: Somewhere},
	"getCalendar":     {Role: rights.Viewer, Where: Somewhere},
	"previewCalendar": {Role: rights.Viewer, Where: Somewhere, Costly: true}, // of jobs that the caller sees
	"putCalendar":     {Role: rights.Editor, Where: Everywhere, Change: "calendar {calendar}"},
	"deleteCalendar":  {Role: rights.Editor, Where: Everywhere, Change: "calendar {calendar}"},

	"listFires":  {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"countFires": {Role: rights.Viewer, Where: Somewhere, Costly: true},

	"suggestOffsets": {Role: rights.Viewer, Where: Somewhere, Costly: true},

	"getOverview":    {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"reportRuns":     {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"reportFailures": {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"reportMonth":    {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"exportMonth":    {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"repairReports":  {Role: rights.Operator, Where: Everywhere, Change: "reports {day}"},

	"listRuns":    {Role: rights.Viewer, Where: Somewhere},
	"exportRuns":  {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"countRuns":   {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"facetRuns":   {Role: rights.Viewer, Where: Somewhere, Costly: true},
	"getRun":      {Role: rights.Viewer, Where: OfRun},
	"listPieces":  {Role: rights.Viewer, Where: OfRun},
	"listSteps":   {Role: rights.Viewer, Where: OfRun},
	"cancelRun":   {Role: rights.Operator, Where: OfRun, Change: "run {run_id}"},
	"rerunRun":    {Role: rights.Operator, Where: OfRun, Change: "run {run_id}"},
	"holdRun":     {Role: rights.Operator, Where: OfRun, Change: "run {run_id}"},
	"resumeRun":   {Role: rights.Operator, Where: OfRun, Change: "run {run_id}"},
	"retryStep":   {Role: rights.Operator, Where: OfRun, Change: "step {step} of run {run_id}"},
	"resolveStep": {Role: rights.Operator, Where: OfRun, Change: "step {step} of run {run_id}"},
	// Whom the step names, its handler knows.
	"approveStep":   {Role: rights.Viewer, Where: OfRun, Change: "step {step} of run {run_id}"},
	"rejectStep":    {Role: rights.Viewer, Where: OfRun, Change: "step {step} of run {run_id}"},
	"listApprovals": {Role: rights.Viewer, Where: Somewhere},
	"listDeadlines": {Role: rights.Viewer, Where: Somewhere},
	"signalRun":     {Role: rights.Operator, Where: OfRun, Scope: rights.Signal, Change: "signal {signal} of run {run_id}"},
	"signalJob":     {Role: rights.Operator, Where: OfPath, Scope: rights.Signal, Change: "signal {signal} of job {group}/{name}"},
	"markRun":       {Role: rights.Operator, Where: OfRun, Change: "run {run_id}"},
	"runJobs":       {Role: rights.Operator, Where: Somewhere, Scope: rights.Start, Each: true}, // each as runJob
	"changeRuns":    {Role: rights.Operator, Where: Somewhere, Each: true},
	"getLogs":       {Role: rights.Viewer, Where: OfRun, Grant: rights.Logs},
	"findInLogs":    {Role: rights.Viewer, Where: OfRun, Grant: rights.Logs},
	"tailLogs":      {Role: rights.Viewer, Where: OfRun, Grant: rights.Logs},

	"searchLogs": {Role: rights.Viewer, Where: Somewhere, Costly: true}, // of groups whose logs the caller sees
	"countLogs":  {Role: rights.Viewer, Where: Somewhere},               // of the same
	"watchLogs":  {Role: rights.Viewer, Where: Somewhere},               // of the same

	"followEvents": {Role: rights.Viewer, Where: Somewhere}, // of groups that the caller sees

	"listNodes":  {Role: rights.Viewer, Where: Somewhere},
	"getBus":     {Role: rights.Viewer, Where: Somewhere}, // without consumers of groups that the caller does not see
	"listGroups": {Role: rights.Viewer, Where: Somewhere},
	"metrics":    {Role: rights.Viewer, Where: Somewhere},

	"collectDiagnostics": {Role: rights.Admin, Where: Everywhere, Change: "diagnostics"},

	"drainInstance":    {Role: rights.Operator, Where: OfPath, Change: "instance {group}/{instance}"},
	"cordonInstance":   {Role: rights.Operator, Where: OfPath, Change: "instance {group}/{instance}"},
	"uncordonInstance": {Role: rights.Operator, Where: OfPath, Change: "instance {group}/{instance}"},
	"setInstance":      {Role: rights.Operator, Where: OfPath, Change: "instance {group}/{instance}"},

	"pauseGroup":    {Role: rights.Operator, Where: OfPath, Change: "group {group}"},
	"putGroup":      {Role: rights.Admin, Where: OfPath, Change: "group {group}"},
	"listHandlers":  {Role: rights.Viewer, Where: OfPath},
	"getGroupUsage": {Role: rights.Viewer, Where: OfPath},
	"listSecrets":   {Role: rights.Editor, Where: OfPath},
	"putSecret":     {Role: rights.Editor, Where: OfPath, Grant: rights.Secrets, Change: "secret {group}/{secret}"},
	"deleteSecret":  {Role: rights.Editor, Where: OfPath, Grant: rights.Secrets, Change: "secret {group}/{secret}"},

	"listCredentials":  {Role: rights.Admin, Where: OfPath},
	"createCredential": {Role: rights.Admin, Where: OfPath, Change: "credential {group}"},
	"rotateCredential": {Role: rights.Admin, Where: OfPath, Change: "credential {group}/{credential}"},
	"revokeCredential": {Role: rights.Admin, Where: OfPath, Change: "credential {group}/{credential}"},

	"listAlerts":          {Role: rights.Viewer, Where: Somewhere},
	"getAlert":            {Role: rights.Viewer, Where: Somewhere},
	"tryAlert":            {Role: rights.Viewer, Where: Somewhere}, // it reads runs that the caller sees
	"putAlert":            {Role: rights.Editor, Where: Everywhere, Change: "alert {alert}"},
	"deleteAlert":         {Role: rights.Editor, Where: Everywhere, Change: "alert {alert}"},
	"listIncidents":       {Role: rights.Viewer, Where: Somewhere}, // of groups that the caller sees
	"getIncident":         {Role: rights.Viewer, Where: OfIncident},
	"acknowledgeIncident": {Role: rights.Operator, Where: OfIncident, Change: "incident {incident}"},
	"snoozeIncident":      {Role: rights.Operator, Where: OfIncident, Change: "incident {incident}"},
	"resolveIncident":     {Role: rights.Operator, Where: OfIncident, Change: "incident {incident}"},
	"listDeliveries":      {Role: rights.Viewer, Where: Somewhere}, // as incidents
	"listSilences":        {Role: rights.Viewer, Where: Somewhere},
	"addSilence":          {Role: rights.Operator, Where: Everywhere, Change: "silence"},
	"endSilence":          {Role: rights.Operator, Where: Everywhere, Change: "silence {silence}"},
	// A channel has addresses, and has the servers send requests to them.
	"listChannels":        {Role: rights.Admin, Where: Everywhere},
	"getChannel":          {Role: rights.Admin, Where: Everywhere},
	"putChannel":          {Role: rights.Admin, Where: Everywhere, Change: "channel {channel}"},
	"deleteChannel":       {Role: rights.Admin, Where: Everywhere, Change: "channel {channel}"},
	"putChannelSecret":    {Role: rights.Admin, Where: Everywhere, Change: "channel {channel} secret {secret}"},
	"deleteChannelSecret": {Role: rights.Admin, Where: Everywhere, Change: "channel {channel} secret {secret}"},
	"testChannel":         {Role: rights.Admin, Where: Everywhere, Change: "channel {channel} test"},

	"listAuditLog":   {Role: rights.Admin, Where: Everywhere},
	"exportAuditLog": {Role: rights.Admin, Where: Everywhere, Costly: true},

	"listUsers":        {Role: rights.Admin, Where: Everywhere},
	"getUser":          {Role: rights.Admin, Where: Everywhere},
	"putUser":          {Role: rights.Admin, Where: Everywhere, Change: "user {user}"},
	"deleteUser":       {Role: rights.Admin, Where: Everywhere, Change: "user {user}"},
	"inviteUser":       {Role: rights.Admin, Where: Everywhere, Change: "user {user}"},
	"listUserSessions": {Role: rights.Admin, Where: Everywhere},
	"endUserSessions":  {Role: rights.Admin, Where: Everywhere, Change: "user {user}"},
}

// Allows returns ErrForbidden unless who may do what p says. groupOf returns the group of what is
// named, if it has to be known.
func (p Permit) Allows(who *auth.Identity, groupOf func() (string, error)) error {
	if p.Where != Open && !who.Only.Allows(p.Scope) {
		return problem.Explain(problem.ErrForbidden, refusal.TokenOnly.With(who.Only.String()))
	}
	switch p.Where {
	case Open, Self:
		return nil
	case Somewhere:
		if !who.Access.MaySomewhere(p.Role) {
			return problem.Explain(problem.ErrForbidden, refusal.NeedsRoleSomewhere.With(p.Role))
		}
		return nil
	case Everywhere:
		if !who.Access.May(p.Role, rights.Everywhere) {
			return problem.Explain(problem.ErrForbidden, refusal.NeedsRole.With(p.Role))
		}
		return nil
	case Asking:
		if !who.Access.MayAsk() {
			return problem.Explain(problem.ErrForbidden, refusal.NeedsSQL.String())
		}
		return nil
	case OfPath, OfRun, OfIncident:
	}
	if who.Access.May(p.Role, rights.Everywhere) && (p.Grant == "" || who.Access.Sees(p.Grant, rights.Everywhere)) {
		return nil
	}
	group, err := groupOf()
	if err != nil {
		return err
	}
	return p.AllowsIn(who, group)
}

// AllowsAssistant returns ErrForbidden unless an assistant may do what p says for who, as far as that is a
// change: it takes the grant for assistants in that group, besides what p says.
func (p Permit) AllowsAssistant(who *auth.Identity, groupOf func() (string, error)) error {
	if p.Change == "" && !p.Each || who.Access.Sees(rights.Assist, rights.Everywhere) {
		return nil
	}
	switch p.Where {
	case OfPath, OfRun, OfIncident:
		group, err := groupOf()
		if err != nil {
			return err
		}
		p.Grant = rights.Assist
		return p.AllowsIn(who, group)
	case Open, Self, Somewhere, Everywhere, Asking:
	}
	return problem.Explain(problem.ErrForbidden, refusal.NeedsGrant.With(rights.Assist, rights.Everywhere))
}

// AllowsIn returns ErrForbidden unless who may do what p is for to something of a group,
// or job.ErrNotFound if that there is such a thing is not theirs to know.
func (p Permit) AllowsIn(who *auth.Identity, group string) error {
	if p.Where != OfPath && !who.Access.May(rights.Viewer, group) {
		// That there is such a thing is not theirs to know.
		return fmt.Errorf("%w: %s", job.ErrNotFound, map[Place]reason.None{OfRun: refusal.NoSuchRun, OfIncident: refusal.NoSuchIncident}[p.Where])
	}
	if !who.Access.May(p.Role, group) {
		return problem.Explain(problem.ErrForbidden, refusal.NeedsRoleIn.With(p.Role, group))
	}
	if p.Grant != "" && !who.Access.Sees(p.Grant, group) {
		return problem.Explain(problem.ErrForbidden, refusal.NeedsGrant.With(p.Grant, group))
	}
	return nil
}

// MayDo returns what a request for operation about something of group would be refused
// with. Handlers ask it about a group that the request itself says: what the permit was
// judged by may have been another.
func MayDo(ctx context.Context, operation, group string) error {
	return Permits[operation].AllowsIn(Who(ctx), group)
}
