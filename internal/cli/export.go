package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/client"
)

// ExportFormats are those of the API's exports.
var ExportFormats = []string{"ndjson", "csv"}

// ExportTo copies an export to the output, as long as it may take, once about, unless nil,
// has seen its headers. What is cut off is an error.
func ExportTo(cmd *cobra.Command, api *client.API, path, format string, q url.Values, about func(http.Header)) error {
	if !slices.Contains(ExportFormats, format) {
		return Usage(fmt.Errorf("--export %q must be ndjson or csv", format))
	}
	q.Set("format", format)
	return CopyTo(cmd, api, path+"?"+q.Encode(), about)
}

// CopyTo copies what the API answers to a path with its query to the output, as ExportTo does.
func CopyTo(cmd *cobra.Command, api *client.API, path string, about func(http.Header)) error {
	resp, err := api.Stream(cmd.Context(), path)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		_, err := client.Read[client.None](resp, nil)
		return err
	}
	if about != nil {
		about(resp.Header)
	}
	if _, err := io.Copy(cmd.OutOrStdout(), resp.Body); err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	return nil
}

// ChangesQuery returns the filter of an export of changes.
func ChangesQuery(p *client.ListAuditLogParams) url.Values {
	q := url.Values{}
	one(q, "user", p.User)
	one(q, "operation", p.Operation)
	one(q, "object", p.Object)
	one(q, "job", p.Job)
	one(q, "group", p.Group)
	instantOf(q, "from", p.From)
	return q
}

// RunsQuery returns the filter of an export of runs.
func RunsQuery(p *client.ListRunsParams) url.Values {
	q := url.Values{}
	many(q, "job", p.Job)
	many(q, "status", p.Status)
	many(q, "cause", p.Cause)
	one(q, "group", p.Group)
	one(q, "instance", p.Instance)
	one(q, "parent", p.Parent)
	one(q, "rerun_of", p.RerunOf)
	one(q, "error", p.Error)
	one(q, "attempts", p.Attempts)
	instantOf(q, "from", p.From)
	instantOf(q, "to", p.To)
	if p.MinAttempt != nil {
		q.Set("min_attempt", strconv.Itoa(*p.MinAttempt))
	}
	return q
}

func one[T ~string](q url.Values, name string, value *T) {
	if value != nil {
		q.Set(name, string(*value))
	}
}

func many[T ~string](q url.Values, name string, values *[]T) {
	if values != nil {
		q[name] = Words[string](*values)
	}
}

func instantOf(q url.Values, name string, at *time.Time) {
	if at != nil {
		q.Set(name, at.Format(time.RFC3339Nano))
	}
}
