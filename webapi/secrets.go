package webapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// secretHandlers answer requests about the secrets of executor groups, and the credentials of their executors.
type secretHandlers struct {
	conn      *cluster.Conn
	catalog   *catalog.Catalog
	users     *auth.Directory
	master    *seal.Master // seals secrets; nil without one
	executors bool         // NATS asks who may connect as one
}

// ListSecrets answers GET /groups/{group}/secrets. Values are never given out.
func (h *secretHandlers) ListSecrets(ctx context.Context, r ListSecretsRequestObject) (*SecretList, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	secrets, err := h.conn.Secrets().Of(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	users, err := h.catalog.UsersOfSecrets(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	list := SecretList{Items: make([]Secret, 0, len(secrets))}
	for i := range secrets {
		item := secretItem(&secrets[i])
		item.UsedBy = users[item.Secret]
		list.Items = append(list.Items, item)
	}
	return &list, nil
}

func secretItem(s *bus.Secret) Secret {
	return Secret{Secret: s.Secret, Description: s.Description, UpdatedAt: s.UpdatedAt, Author: s.Author, KeyID: s.KeyID}
}

// PutSecret answers PUT /groups/{group}/secrets/{secret}.
func (h *secretHandlers) PutSecret(ctx context.Context, r PutSecretRequestObject) (*Secret, error) {
	if err := checkSecret(r.Group, r.Secret); err != nil {
		return nil, err
	}
	switch {
	case h.master == nil:
		return nil, problem.Explain(fmt.Errorf("%w: set secret %s of group %s", job.ErrConflict, r.Secret, r.Group),
			"this server has no key for secrets; make one with \"carillon secret keygen\", and start the server with --master-key FILE")
	case r.Body.Value == "":
		return nil, job.Invalid("value", "is empty; delete the secret instead")
	case len(r.Body.Value) > job.MaxSecret:
		return nil, job.Invalid("value", "has %d bytes; a secret may have at most %d", len(r.Body.Value), job.MaxSecret)
	case strings.ContainsRune(r.Body.Value, 0):
		return nil, job.Invalid("value", "has a NUL byte, which no variable can hold")
	}
	if err := h.checkRoom(ctx, r.Group, r.Secret); err != nil {
		return nil, err
	}
	key := h.master.Group(r.Group)
	s := &bus.Secret{
		Group: r.Group, Secret: r.Secret, Author: access.Author(ctx),
		UpdatedAt: time.Now().UTC().Truncate(time.Millisecond), KeyID: key.ID(), Sealed: key.Seal(r.Secret, r.Body.Value),
	}
	put := h.conn.Secrets().PutValue
	if r.Body.Description != nil {
		put, s.Description = h.conn.Secrets().Put, *r.Body.Description
	}
	if err := put(ctx, s); err != nil {
		return nil, err
	}
	return new(secretItem(s)), nil
}

// maxSecrets is how many secrets a group may have.
const maxSecrets = 1000

// checkRoom returns an *InvalidError if a group has as many secrets as it may, without this one.
func (h *secretHandlers) checkRoom(ctx context.Context, group, name string) error {
	secrets, err := h.conn.Secrets().Of(ctx, group)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(secrets, func(s bus.Secret) bool { return s.Secret == name })
	if n := len(secrets); n >= maxSecrets && !known {
		return &job.InvalidError{Field: "secret", Reason: refusal.GroupHasSecrets.With(group, n)}
	}
	return nil
}

// DeleteSecret answers DELETE /groups/{group}/secrets/{secret}.
func (h *secretHandlers) DeleteSecret(ctx context.Context, r DeleteSecretRequestObject) (*none, error) {
	if err := checkSecret(r.Group, r.Secret); err != nil {
		return nil, err
	}
	if err := h.conn.Secrets().Delete(ctx, r.Group, r.Secret); err != nil {
		return nil, err
	}
	return &none{}, nil
}

func checkSecret(group, name string) error {
	if err := job.CheckSlug("group", group); err != nil {
		return err
	}
	return job.CheckSecretName("secret", name)
}

// rotationOverlap is how long a credential works on by default that is rotated; the
// contract states it.
const rotationOverlap = 24 * time.Hour

// ListCredentials answers GET /groups/{group}/credentials.
func (h *secretHandlers) ListCredentials(ctx context.Context, r ListCredentialsRequestObject) (*CredentialList, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	credentials, err := h.users.Credentials().OfGroup(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	list := CredentialList{Items: make([]Credential, 0, len(credentials))}
	for i := range credentials {
		list.Items = append(list.Items, credentialItem(&credentials[i]))
	}
	return &list, nil
}

// CreateCredential answers POST /groups/{group}/credentials.
func (h *secretHandlers) CreateCredential(ctx context.Context, r CreateCredentialRequestObject) (*NewCredential, error) {
	if err := h.checksExecutors("create a credential"); err != nil {
		return nil, err
	}
	for _, group := range r.Body.BridgeGroups {
		if err := access.MayDo(ctx, "createCredential", group); err != nil {
			return nil, err
		}
	}
	made, seed, err := h.users.Credentials().CreateForBridge(ctx, r.Group, r.Body.BridgeGroups, r.Body.Name, access.Author(ctx), time.Duration(r.Body.ExpiresIn))
	if err != nil {
		return nil, err
	}
	if err := h.described(ctx, made); err != nil {
		return nil, err
	}
	return &NewCredential{Credential: credentialItem(made), Seed: seed}, nil
}

// RotateCredential answers POST /groups/{group}/credentials/{credential}/rotate.
func (h *secretHandlers) RotateCredential(ctx context.Context, r RotateCredentialRequestObject) (*NewCredential, error) {
	if err := h.checksExecutors("rotate a credential"); err != nil {
		return nil, err
	}
	overlap := rotationOverlap
	if r.Body.Overlap != nil {
		overlap = time.Duration(*r.Body.Overlap)
	}
	made, seed, err := h.users.Credentials().Rotate(ctx, r.Group, r.Credential, access.Author(ctx), overlap)
	if err != nil {
		return nil, err
	}
	if err := h.described(ctx, made); err != nil {
		return nil, err
	}
	return &NewCredential{Credential: credentialItem(made), Seed: seed}, nil
}

// RevokeCredential answers DELETE /groups/{group}/credentials/{credential}.
func (h *secretHandlers) RevokeCredential(ctx context.Context, r RevokeCredentialRequestObject) (*none, error) {
	was, err := h.users.Credentials().Get(ctx, r.Group, r.Credential)
	if err != nil {
		return nil, err
	}
	if err := h.users.Credentials().Revoke(ctx, r.Group, r.Credential); err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Detail = reason.Text(refusal.CredentialFor.With(was.Name))
	return &none{}, nil
}

// checksExecutors returns job.ErrConflict unless a credential would be good for
// something.
func (h *secretHandlers) checksExecutors(to string) error {
	if h.executors {
		return nil
	}
	return problem.Explain(fmt.Errorf("%w: %s", job.ErrConflict, to),
		"NATS does not ask this server who may connect; make keys with \"carillon nats keygen\", configure NATS with \"carillon nats config\", and start the server with --nats-keys FILE")
}

// described says in the entry of a change which credential was made.
func (h *secretHandlers) described(ctx context.Context, made *auth.Credential) error {
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
		Expired: c.Expired(time.Now()), Replaces: c.Replaces, BridgeGroups: c.BridgeGroups,
	}
	if !c.ExpiresAt.IsZero() {
		item.ExpiresAt = &c.ExpiresAt
	}
	return item
}
