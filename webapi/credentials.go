package webapi

import (
	"context"
	"fmt"
	"time"

	"carillon/auth"
	"carillon/job"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// rotationOverlap is how long a credential works on by default that is rotated; the
// contract states it.
const rotationOverlap = 24 * time.Hour

// ListCredentials answers GET /groups/{group}/credentials.
func (h *handlers) ListCredentials(ctx context.Context, r ListCredentialsRequestObject) (ListCredentialsResponseObject, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	credentials, err := h.users.Credentials(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	list := CredentialList{Items: make([]Credential, 0, len(credentials))}
	for i := range credentials {
		list.Items = append(list.Items, credentialItem(&credentials[i]))
	}
	return ListCredentials200JSONResponse(list), nil
}

// CreateCredential answers POST /groups/{group}/credentials.
func (h *handlers) CreateCredential(ctx context.Context, r CreateCredentialRequestObject) (CreateCredentialResponseObject, error) {
	if err := h.checksExecutors("create a credential"); err != nil {
		return nil, err
	}
	made, seed, err := h.users.CreateCredential(ctx, r.Group, r.Body.Name, access.Author(ctx), time.Duration(r.Body.ExpiresIn))
	if err != nil {
		return nil, err
	}
	if err := h.described(ctx, made); err != nil {
		return nil, err
	}
	return CreateCredential201JSONResponse{Credential: credentialItem(made), Seed: seed}, nil
}

// RotateCredential answers POST /groups/{group}/credentials/{credential}/rotate.
func (h *handlers) RotateCredential(ctx context.Context, r RotateCredentialRequestObject) (RotateCredentialResponseObject, error) {
	if err := h.checksExecutors("rotate a credential"); err != nil {
		return nil, err
	}
	overlap := rotationOverlap
	if r.Body.Overlap != nil {
		overlap = time.Duration(*r.Body.Overlap)
	}
	made, seed, err := h.users.RotateCredential(ctx, r.Group, r.Credential, access.Author(ctx), overlap)
	if err != nil {
		return nil, err
	}
	if err := h.described(ctx, made); err != nil {
		return nil, err
	}
	return RotateCredential201JSONResponse{Credential: credentialItem(made), Seed: seed}, nil
}

// RevokeCredential answers DELETE /groups/{group}/credentials/{credential}.
func (h *handlers) RevokeCredential(ctx context.Context, r RevokeCredentialRequestObject) (RevokeCredentialResponseObject, error) {
	was, err := h.users.Credential(ctx, r.Group, r.Credential)
	if err != nil {
		return nil, err
	}
	if err := h.users.RevokeCredential(ctx, r.Group, r.Credential); err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Note = was.Name
	return RevokeCredential204Response{}, nil
}

// checksExecutors returns job.ErrConflict unless a credential would be good for
// something.
func (h *handlers) checksExecutors(to string) error {
	if h.executors {
		return nil
	}
	return problem.Explain(fmt.Errorf("%w: %s", job.ErrConflict, to),
		"NATS does not ask this server who may connect; make keys with \"carillon nats keygen\", configure NATS with \"carillon nats config\", and start the server with --nats-keys FILE")
}

// described says in the entry of a change which credential was made.
func (h *handlers) described(ctx context.Context, made *auth.Credential) error {
	auditlog.Entry(ctx).Object = "credential " + made.Group + "/" + made.ID
	to := map[string]any{"name": made.Name, "public_key": made.PublicKey}
	if !made.ExpiresAt.IsZero() {
		to["expires_at"] = made.ExpiresAt
	}
	if made.Replaces != "" {
		to["replaces"] = made.Replaces
	}
	return auditlog.Describe(ctx, true, "", nil, to)
}

func credentialItem(c *auth.Credential) Credential {
	item := Credential{
		ID: c.ID, Name: c.Name, Group: c.Group, PublicKey: c.PublicKey, Author: c.Author, CreatedAt: c.CreatedAt,
		Expired: c.Expired(time.Now()), Replaces: c.Replaces,
	}
	if !c.ExpiresAt.IsZero() {
		item.ExpiresAt = &c.ExpiresAt
	}
	return item
}
