package webapi

import (
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestARequestIsDecodedByItsType(t *testing.T) {
	t.Parallel()
	type params struct {
		Names []string  `form:"name,omitempty"      json:"name,omitempty"`
		Limit *int      `form:"limit,omitempty"     json:"limit,omitempty"`
		All   bool      `form:"all,omitempty"       json:"all,omitempty"`
		From  time.Time `form:"from,omitzero"       json:"from,omitzero"`
		Match string    `json:"If-Match,omitempty"`
	}
	type request struct {
		Group  string `json:"group"`
		Seq    int64  `json:"seq"`
		Params params
		Body   *struct {
			Note string `json:"note"`
		}
	}
	var got request
	var refused error
	app := fiber.New()
	app.Post("/:group/:seq", func(c *fiber.Ctx) error {
		got = request{}
		refused = decoderOf(reflect.TypeFor[request]()).decode(c, reflect.ValueOf(&got).Elem())
		return nil
	})
	send := func(target string, matches ...string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader(`{"note":"why"}`))
		r.Header["If-Match"] = matches
		response, err := app.Test(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}

	send("/a%2Fb/7?name=x&name=y,z&limit=3&all=true&from=2026-01-05T12:00:00Z", `"17"`)
	want := request{Group: "a/b", Seq: 7, Params: params{Names: []string{"x", "y,z"}, Limit: new(3), All: true, From: noon, Match: `"17"`}}
	want.Body = got.Body
	if refused != nil || !cmp.Equal(got, want) || got.Body.Note != "why" {
		t.Errorf("%v, %s", refused, cmp.Diff(want, got))
	}
	send("/a/7")
	if refused != nil || got.Params.Limit != nil || got.Params.Names != nil || !got.Params.From.IsZero() {
		t.Errorf("without parameters: %v, %+v", refused, got.Params)
	}
	for field, target := range map[string]string{"seq": "/a/x", "limit": "/a/1?limit=1e3", "all": "/a/1?all=yes", "from": "/a/1?from=", "": "/a/1?x=%zz"} {
		send(target)
		if invalid, ok := errors.AsType[*job.InvalidError](refused); !ok || invalid.Field != field {
			t.Errorf("%s: %v, want a refusal of %q", target, refused, field)
		}
	}
	send("/a/1", `"1"`, `"2"`)
	if invalid, ok := errors.AsType[*job.InvalidError](refused); !ok || invalid.Field != "If-Match" {
		t.Errorf("If-Match twice: %v", refused)
	}
}
