package webapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"carillon/auth"
	"carillon/job"
	"carillon/job/rights"
	"carillon/webapi/problem"
)

// permit says what a request needs: a role, and where.
type permit struct {
	role  rights.Role
	where place
	grant rights.Grant // needed too, in that group; empty is none
	// change is what the operation changes, for its entry in the audit log: a template
	// with the names of the path. Empty is nothing.
	change string
	// each says that the operation changes many things, each as another operation would,
	// which decides who may and gives it its entry (bulk.go).
	each bool
}

// place says in which executor group a role is needed.
type place int

const (
	open       place = iota // nowhere: anybody may, without signing in
	self                    // nowhere: whoever is signed in, about themselves
	somewhere               // in some group: what is the same for all, or a list that is filtered
	everywhere              // in all groups
	asking                  // in all groups, with the grants for all that the history has: auth.AccessList.MayAsk
	ofPath                  // in that of the path
	ofRun                   // in that of the stored run that the path names
	ofIncident              // in that of the stored incident that the path names
)

// permits is the one place that says who may do what: what each operation of the
// contract needs. The group is that of the stored object which the path names, never
// of what the body says; a job's group is part of its identity, and the handler takes
// no body that names another. What handlers add: lists leave out what the caller may
// not see, and documents what the caller has no grant for (redact.go).
var permits = map[string]permit{
	"getReference": {where: open},
	"getContract":  {where: open},
	"healthz":      {where: open},
	"readyz":       {where: open},
	"getSignIn":    {where: open},
	"signIn":       {where: open, change: "session"},
	"signOut":      {where: open, change: "session"},

	"beginProviderSignIn":  {where: open},
	"finishProviderSignIn": {where: open, change: "session"},

	"readInvitation":   {where: open},
	"acceptInvitation": {where: open, change: "password"},

	"getMe":          {where: self},
	"setMyPassword":  {where: self, change: "password"},
	"listMySessions": {where: self},
	"endMySession":   {where: self, change: "session {session}"},
	"getVersion":     {where: self},
	"listTokens":     {where: self}, // of others: an admin, by otherUser
	"createToken":    {where: self, change: "token"},
	"revokeToken":    {where: self, change: "token {token}"},

	"listJobs":        {role: rights.Viewer, where: somewhere},
	"facetJobs":       {role: rights.Viewer, where: somewhere},
	"getJob":          {role: rights.Viewer, where: ofPath},
	"putJob":          {role: rights.Editor, where: ofPath, change: "job {group}/{name}"},
	"deleteJob":       {role: rights.Editor, where: ofPath, change: "job {group}/{name}"},
	"listJobVersions": {role: rights.Viewer, where: ofPath},
	"diffJob":         {role: rights.Viewer, where: ofPath},
	"pauseJob":        {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"resumeJob":       {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"skipFire":        {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"unskipFire":      {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"runFireEarly":    {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"changeJobs":      {role: rights.Operator, where: somewhere, each: true},
	"runJob":          {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"previewJob":      {role: rights.Viewer, where: ofPath},
	"previewSchedule": {role: rights.Viewer, where: somewhere},
	"readCrontab":     {role: rights.Viewer, where: somewhere}, // these read what they are sent, and nothing else
	"readXXLJob":      {role: rights.Viewer, where: somewhere},

	"readCalendarFile": {role: rights.Viewer, where: somewhere}, // as those

	"backfillJob":    {role: rights.Operator, where: ofPath, change: "job {group}/{name}"},
	"listBackfills":  {role: rights.Viewer, where: ofPath},
	"cancelBackfill": {role: rights.Operator, where: ofPath, change: "backfill {backfill} of job {group}/{name}"},

	"getJobLedger": {role: rights.Viewer, where: ofPath},
	"auditLedger":  {role: rights.Viewer, where: somewhere},

	"listDiscrepancies": {role: rights.Viewer, where: somewhere}, // of groups that the caller sees

	"getHold": {role: rights.Viewer, where: somewhere},
	"setHold": {role: rights.Operator, where: everywhere, change: "hold"},

	"querySQL": {role: rights.Viewer, where: asking},

	"getHistory":       {role: rights.Viewer, where: somewhere},
	"listDeadLetters":  {role: rights.Admin, where: everywhere}, // they say what runs of any group have said
	"getDeadLetter":    {role: rights.Admin, where: everywhere},
	"deleteDeadLetter": {role: rights.Admin, where: everywhere, change: "dead letter {sequence}"},
	"replayDeadLetter": {role: rights.Admin, where: everywhere, change: "dead letter {sequence}"},

	"getRetention":     {role: rights.Viewer, where: everywhere},
	"previewRetention": {role: rights.Viewer, where: everywhere},
	"putRetention":     {role: rights.Admin, where: everywhere, change: "retention"},

	"listCalendars":   {role: rights.Viewer, where: somewhere},
	"getCalendar":     {role: rights.Viewer, where: somewhere},
	"previewCalendar": {role: rights.Viewer, where: somewhere}, // of jobs that the caller sees
	"putCalendar":     {role: rights.Editor, where: everywhere, change: "calendar {calendar}"},
	"deleteCalendar":  {role: rights.Editor, where: everywhere, change: "calendar {calendar}"},

	"listFires":  {role: rights.Viewer, where: somewhere},
	"countFires": {role: rights.Viewer, where: somewhere},

	"suggestOffsets": {role: rights.Viewer, where: somewhere},

	"getOverview":    {role: rights.Viewer, where: somewhere},
	"reportRuns":     {role: rights.Viewer, where: somewhere},
	"reportFailures": {role: rights.Viewer, where: somewhere},
	"repairReports":  {role: rights.Operator, where: everywhere, change: "reports {day}"},

	"listRuns":   {role: rights.Viewer, where: somewhere},
	"exportRuns": {role: rights.Viewer, where: somewhere},
	"countRuns":  {role: rights.Viewer, where: somewhere},
	"facetRuns":  {role: rights.Viewer, where: somewhere},
	"getRun":     {role: rights.Viewer, where: ofRun},
	"listPieces": {role: rights.Viewer, where: ofRun},
	"cancelRun":  {role: rights.Operator, where: ofRun, change: "run {run_id}"},
	"retryRun":   {role: rights.Operator, where: ofRun, change: "run {run_id}"},
	"markRun":    {role: rights.Operator, where: ofRun, change: "run {run_id}"},
	"changeRuns": {role: rights.Operator, where: somewhere, each: true},
	"getLogs":    {role: rights.Viewer, where: ofRun, grant: rights.Logs},
	"tailLogs":   {role: rights.Viewer, where: ofRun, grant: rights.Logs},

	"searchLogs": {role: rights.Viewer, where: somewhere}, // of groups whose logs the caller sees
	"countLogs":  {role: rights.Viewer, where: somewhere}, // of the same
	"watchLogs":  {role: rights.Viewer, where: somewhere}, // of the same

	"followEvents": {role: rights.Viewer, where: somewhere}, // of groups that the caller sees

	"listNodes":  {role: rights.Viewer, where: somewhere},
	"getBus":     {role: rights.Viewer, where: somewhere}, // without consumers of groups that the caller does not see
	"listGroups": {role: rights.Viewer, where: somewhere},
	"metrics":    {role: rights.Viewer, where: somewhere},

	"collectDiagnostics": {role: rights.Admin, where: everywhere, change: "diagnostics"},

	"drainInstance":    {role: rights.Operator, where: ofPath, change: "instance {group}/{instance}"},
	"cordonInstance":   {role: rights.Operator, where: ofPath, change: "instance {group}/{instance}"},
	"uncordonInstance": {role: rights.Operator, where: ofPath, change: "instance {group}/{instance}"},
	"setInstance":      {role: rights.Operator, where: ofPath, change: "instance {group}/{instance}"},

	"putGroup":     {role: rights.Admin, where: ofPath, change: "group {group}"},
	"listHandlers": {role: rights.Viewer, where: ofPath},
	"listSecrets":  {role: rights.Editor, where: ofPath},
	"putSecret":    {role: rights.Editor, where: ofPath, grant: rights.Secrets, change: "secret {group}/{secret}"},
	"deleteSecret": {role: rights.Editor, where: ofPath, grant: rights.Secrets, change: "secret {group}/{secret}"},

	"listCredentials":  {role: rights.Admin, where: ofPath},
	"createCredential": {role: rights.Admin, where: ofPath, change: "credential {group}"},
	"rotateCredential": {role: rights.Admin, where: ofPath, change: "credential {group}/{credential}"},
	"revokeCredential": {role: rights.Admin, where: ofPath, change: "credential {group}/{credential}"},

	"listAlerts":          {role: rights.Viewer, where: somewhere},
	"getAlert":            {role: rights.Viewer, where: somewhere},
	"tryAlert":            {role: rights.Viewer, where: somewhere}, // it reads runs that the caller sees
	"putAlert":            {role: rights.Editor, where: everywhere, change: "alert {alert}"},
	"deleteAlert":         {role: rights.Editor, where: everywhere, change: "alert {alert}"},
	"listIncidents":       {role: rights.Viewer, where: somewhere}, // of groups that the caller sees
	"getIncident":         {role: rights.Viewer, where: ofIncident},
	"acknowledgeIncident": {role: rights.Operator, where: ofIncident, change: "incident {incident}"},
	"snoozeIncident":      {role: rights.Operator, where: ofIncident, change: "incident {incident}"},
	"resolveIncident":     {role: rights.Operator, where: ofIncident, change: "incident {incident}"},
	"listDeliveries":      {role: rights.Viewer, where: somewhere}, // as incidents
	"listSilences":        {role: rights.Viewer, where: somewhere},
	"addSilence":          {role: rights.Operator, where: everywhere, change: "silence"},
	"endSilence":          {role: rights.Operator, where: everywhere, change: "silence {silence}"},
	// A channel has addresses, and has the servers send requests to them.
	"listChannels":        {role: rights.Admin, where: everywhere},
	"getChannel":          {role: rights.Admin, where: everywhere},
	"putChannel":          {role: rights.Admin, where: everywhere, change: "channel {channel}"},
	"deleteChannel":       {role: rights.Admin, where: everywhere, change: "channel {channel}"},
	"putChannelSecret":    {role: rights.Admin, where: everywhere, change: "channel {channel} secret {secret}"},
	"deleteChannelSecret": {role: rights.Admin, where: everywhere, change: "channel {channel} secret {secret}"},
	"testChannel":         {role: rights.Admin, where: everywhere, change: "channel {channel} test"},

	"listAudit":   {role: rights.Admin, where: everywhere},
	"exportAudit": {role: rights.Admin, where: everywhere},

	"listUsers":        {role: rights.Admin, where: everywhere},
	"getUser":          {role: rights.Admin, where: everywhere},
	"putUser":          {role: rights.Admin, where: everywhere, change: "user {user}"},
	"deleteUser":       {role: rights.Admin, where: everywhere, change: "user {user}"},
	"inviteUser":       {role: rights.Admin, where: everywhere, change: "user {user}"},
	"listUserSessions": {role: rights.Admin, where: everywhere},
	"endUserSessions":  {role: rights.Admin, where: everywhere, change: "user {user}"},
}

// admit returns the handler that lets through who may do an operation. Behind it the
// context has the caller.
func (s *Server) admit(operation string) fiber.Handler {
	p, known := permits[operation]
	if !known {
		panic("BUG: operation " + operation + " has no row in permits")
	}
	return func(c *fiber.Ctx) error {
		by, err := s.identify(c)
		if err != nil && (p.where != open || !errors.Is(err, auth.ErrUnauthenticated)) {
			return err
		}
		c.SetUserContext(withCaller(c.UserContext(), by))
		if p.where == open {
			return c.Next()
		}
		if by.who == nil {
			return problem.Explain(auth.ErrUnauthenticated, "sign in first, or send an API token")
		}
		if err := p.allows(by.who, func() (string, error) { return s.groupOf(c, p) }); err != nil {
			return err
		}
		return c.Next()
	}
}

// allows returns ErrForbidden unless who may do what p says. groupOf returns the group of what is
// named, if it has to be known.
func (p permit) allows(who *auth.Identity, groupOf func() (string, error)) error {
	switch p.where {
	case open, self:
		return nil
	case somewhere:
		if !who.Access.MaySomewhere(p.role) {
			return needs(p.role, "in some executor group")
		}
		return nil
	case everywhere:
		if !who.Access.May(p.role, rights.Everywhere) {
			return needs(p.role, "everywhere")
		}
		return nil
	case asking:
		if !who.Access.MayAsk() {
			return problem.Explain(problem.ErrForbidden, "this needs the grants sql, logs and params everywhere: an answer has what is in the history, whatever group it is of")
		}
		return nil
	case ofPath, ofRun, ofIncident:
	}
	if who.Access.May(p.role, rights.Everywhere) && (p.grant == "" || who.Access.Sees(p.grant, rights.Everywhere)) {
		return nil
	}
	group, err := groupOf()
	if err != nil {
		return err
	}
	return p.allowsIn(who, group)
}

// allowsIn returns ErrForbidden unless who may do what p is for to something of a group,
// or job.ErrNotFound if that there is such a thing is not theirs to know.
func (p permit) allowsIn(who *auth.Identity, group string) error {
	if p.where != ofPath && !who.Access.May(rights.Viewer, group) {
		// That there is such a thing is not theirs to know.
		return fmt.Errorf("%w: there is no such %s", job.ErrNotFound, map[place]string{ofRun: "run", ofIncident: "incident"}[p.where])
	}
	if !who.Access.May(p.role, group) {
		return needs(p.role, "in group "+group)
	}
	if p.grant != "" && !who.Access.Sees(p.grant, group) {
		return problem.Explain(problem.ErrForbidden, fmt.Sprintf("this needs the grant %s in group %s", p.grant, group))
	}
	return nil
}

// groupOf returns the group of what a path names.
func (s *Server) groupOf(c *fiber.Ctx, p permit) (string, error) {
	switch p.where {
	case ofRun:
		return s.handlers.groupOfRun(c)
	case ofIncident:
		return s.handlers.groupOfIncident(c)
	case open, self, somewhere, everywhere, asking, ofPath:
	}
	return c.Params("group"), nil
}

// mayDo returns what a request for operation about something of group would be refused
// with. Handlers ask it about a group that the request itself says: what the permit was
// judged by may have been another.
func mayDo(ctx context.Context, operation, group string) error {
	return permits[operation].allowsIn(whoIs(ctx), group)
}

func needs(role rights.Role, where string) error {
	return problem.Explain(problem.ErrForbidden, fmt.Sprintf("this needs the role %s %s", role, where))
}

// groupOfRun returns the group of the run that a path names, as it is stored. Of a run
// that is too new to be stored it is that of the job which the request says. That is a
// claim: what is then read of the run is checked again (visibleStore), and what is done
// to it is done to a run of a job of which the caller may do so (mayDo).
func (h *handlers) groupOfRun(c *fiber.Ctx) (string, error) {
	attempts, err := h.attempts(c.UserContext(), c.Params("run_id"))
	if err == nil {
		return attempts[0].Job.Group(), nil
	}
	if errors.Is(err, errOthers) { // whatever job the request says
		return "", err
	}
	name := job.Name(c.Query("job"))
	if name == "" {
		name = jobOfBody(c.Body())
	}
	if !errors.Is(err, job.ErrNotFound) || name == "" {
		return "", err
	}
	return name.Group(), nil
}

// jobOfBody returns the job that the body of a request names, or nothing.
func jobOfBody(body []byte) job.Name {
	var r struct {
		Job string `json:"job"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	name, err := job.ParseName(r.Job)
	if err != nil {
		return ""
	}
	return name
}

// author returns who a change is recorded to be by.
func author(ctx context.Context) string { return whoIs(ctx).User }
