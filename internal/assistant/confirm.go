package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// confirmTime is how long a code is good. The id of a run that somebody asks for may be as old.
const confirmTime = 5 * time.Minute

// Writes is what tools need that change things.
type Writes struct {
	// Codes makes the codes that confirm a change. All servers that may get one must share its key.
	Codes Codes
	// Caller is whose calls they are. A code is good for the caller that got it.
	Caller string
	// Client is the name of the assistant, where its calls do not say it.
	Client string
}

// change is one change that a tool can make, as things are now.
type change struct {
	group string
	about any    // what would change, for the assistant to show
	state any    // revisions of what it is about: if these change, a code is good no more
	link  string // to what is changed, in the console
	// make carries it out, as an assistant. Made twice with the same id, it has the effect of once.
	make func(ctx context.Context, id job.RunID, as client.RequestEditorFn) (any, error)
}

// confirmation is a part of the arguments of each tool that changes things.
type confirmation struct {
	Confirm string `json:"confirm,omitempty" jsonschema:"the code that the call without it has answered, to carry out the change"`
}

func (c confirmation) code() string { return c.Confirm }

// twoCalls is how the description of each tool that changes things ends.
const twoCalls = " The first call changes nothing: it answers what would change, and a code. Show that to the person; " +
	"if they agree, call again with the same arguments and the code as confirm."

// addChange registers a tool that changes things, once its caller has confirmed what plan says.
func addChange[In interface{ code() string }](t *tools, s *mcp.Server, name, description string, plan func(context.Context, In) (*change, error)) {
	tool := &mcp.Tool{Name: name, Description: description + twoCalls, Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)}}
	mcp.AddTool(s, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		if !t.calls.Allow() {
			return nil, nil, errTooMany
		}
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		c, err := plan(ctx, in)
		if err == nil && (!t.access.May(rights.Operator, c.group) || !t.access.Sees(rights.Assist, c.group)) {
			err = fmt.Errorf("changes by an assistant need the role operator and the grant assist in group %s", c.group)
		}
		if err != nil {
			return nil, nil, errors.New(new(cutter).text(err.Error()))
		}
		var result *mcp.CallToolResult
		if in.code() == "" {
			result, err = t.propose(name, in, c)
		} else {
			result, err = t.carryOut(ctx, r, name, in, c)
		}
		if err != nil {
			err = errors.New(new(cutter).text(err.Error()))
		}
		return result, nil, err
	})
}

// propose answers what would change, with the code that confirms it.
func (t *tools) propose(tool string, in any, c *change) (*mcp.CallToolResult, error) {
	id := job.NewRunID(time.Now())
	text, err := t.confirms(tool, in, c, id)
	if err != nil {
		return nil, err
	}
	code := string(id) + "." + t.writes.Codes.Code(text)
	return answerWith(c.about, map[string]any{"done": false, "confirm": code, "confirm_until": id.Time().Add(confirmTime).Format(time.RFC3339)},
		"Nothing has changed yet. To carry this out, call "+tool+" again with the same arguments and confirm: "+code)
}

// carryOut makes a change that was proposed.
func (t *tools) carryOut(ctx context.Context, r *mcp.CallToolRequest, tool string, in interface{ code() string }, c *change) (*mcp.CallToolResult, error) {
	named, code, _ := strings.Cut(in.code(), ".")
	id, err := job.ParseRunID(named)
	if err != nil {
		return nil, job.Invalid("confirm", "is no code; call %s without it to get one", tool)
	}
	text, err := t.confirms(tool, in, c, id)
	switch {
	case err != nil:
		return nil, err
	case !t.writes.Codes.Holds(text, code):
		return nil, job.Invalid("confirm", "is the code of something else: another tool, other arguments, another caller, or what is to change is not as it was; call %s without it to see what would change now", tool)
	case time.Since(id.Time()) > confirmTime:
		return nil, job.Invalid("confirm", "is older than 5 minutes; call %s without it to see what would change now", tool)
	}
	name := t.writes.Client
	if info := r.ClientInfo(); info != nil {
		name = info.Name
	}
	made, err := c.make(ctx, id, func(_ context.Context, req *http.Request) error {
		req.Header.Set(trail.HeaderAssistant, trail.AssistantName(name))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answerWith(made, map[string]any{"done": true, "link": t.api.Address() + c.link}, "Done. See "+t.api.Address()+c.link)
}

// confirms returns what a code stands for: the tool, its arguments and all that the change is about, for this
// caller. Arguments are those as the tool has read them, without the code.
func (t *tools) confirms(tool string, in any, c *change, id job.RunID) ([]byte, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	var args map[string]any
	if err := json.Unmarshal(data, &args); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	delete(args, "confirm")
	text, err := json.Marshal([]any{t.writes.Caller, tool, args, c.group, c.state, id})
	if err != nil {
		return nil, fmt.Errorf("encode what would change: %w", err)
	}
	return text, nil
}
