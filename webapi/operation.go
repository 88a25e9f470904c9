package webapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/contract"
)

// endpoint makes the handler of an operation.
type endpoint func(*Server, contract.Operation) fiber.Handler

// operation returns the endpoint of an act: it decodes the request into a Q, calls act, and encodes what
// that returns, with the operation's status of success. Q is the generated type of the request, whose
// parameters and body the contract has checked. A is a pointer: to what JSON is made of, to [none],
// or to an [answer], which also has headers.
func operation[Q, A any](act func(context.Context, Q) (A, error)) endpoint {
	decode := decoderOf(reflect.TypeFor[Q]())
	return func(s *Server, op contract.Operation) fiber.Handler {
		return func(c *fiber.Ctx) error {
			var request Q
			if err := decode.decode(c, reflect.ValueOf(&request).Elem()); err != nil {
				return err
			}
			if access.Who(c.UserContext()) != nil {
				c.Set(headerVersion, s.cfg.Version)
			}
			response, err := s.recorded(c, op.ID, func(ctx context.Context) (any, error) { return act(ctx, request) })
			if err != nil {
				return err
			}
			return write(c, op.Status, redacted(c.UserContext(), response))
		}
	}
}

// plain returns the endpoint of a handler that reads its request and writes its answer itself.
func plain(h fiber.Handler) endpoint {
	return func(*Server, contract.Operation) fiber.Handler { return h }
}

// none is the answer of an operation that has nothing to show.
type none struct{}

// answer is an answer with more than a body. Fields without a value leave no trace.
type answer[T any] struct {
	Body      T
	Status    int // instead of that of success
	ETag      string
	Location  string
	SetCookie string
}

// whole returns what an answer consists of.
func (a *answer[T]) whole() (body any, status int, headers map[string]string) {
	return &a.Body, a.Status, map[string]string{
		fiber.HeaderETag: a.ETag, fiber.HeaderLocation: a.Location, fiber.HeaderSetCookie: a.SetCookie,
	}
}

// unlessSame returns an answer with an ETag of what it shows, without a body for a client that has it. What the
// caller may not see must not be in it.
func unlessSame[T any](body T, ifNoneMatch string) (*answer[T], error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	sum := sha256.Sum256(data)
	a := &answer[T]{Body: body, ETag: fmt.Sprintf(`"%x"`, sum[:8])}
	if strings.Contains(ifNoneMatch, a.ETag) { // of several, or a weak one
		a.Status = http.StatusNotModified
	}
	return a, nil
}

// text is an answer that is text rather than JSON.
type text string

// archive is an answer that is a ZIP file to save.
type archive struct {
	Name string
	Data []byte
}

// write encodes what an operation has returned.
func write(c *fiber.Ctx, status int, response any) error {
	if a, ok := response.(interface {
		whole() (any, int, map[string]string)
	}); ok {
		body, own, headers := a.whole()
		for name, value := range headers {
			if value != "" {
				c.Set(name, value)
			}
		}
		if own != 0 {
			status = own
		}
		response = body
	}
	c.Status(status)
	if status == http.StatusNotModified {
		return nil
	}
	switch body := response.(type) {
	case *none:
		return nil
	case text:
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlain)
		return c.SendString(string(body))
	case *archive:
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+body.Name+`"`)
		c.Set(fiber.HeaderContentType, "application/zip")
		return c.Send(body.Data)
	default:
		return c.JSON(response)
	}
}
