package webapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// ListSecrets answers GET /groups/{group}/secrets. Values are never given out.
func (h *handlers) ListSecrets(ctx context.Context, r ListSecretsRequestObject) (ListSecretsResponseObject, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	secrets, err := h.conn.Secrets(ctx, r.Group)
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
	return ListSecrets200JSONResponse(list), nil
}

func secretItem(s *bus.Secret) Secret {
	return Secret{Secret: s.Secret, Description: s.Description, UpdatedAt: s.UpdatedAt, Author: s.Author, KeyID: s.KeyID}
}

// PutSecret answers PUT /groups/{group}/secrets/{secret}.
func (h *handlers) PutSecret(ctx context.Context, r PutSecretRequestObject) (PutSecretResponseObject, error) {
	if err := checkSecret(r.Group, r.Secret); err != nil {
		return nil, err
	}
	switch {
	case h.master == nil:
		return nil, problem.Explain(fmt.Errorf("%w: set secret %s of group %s", job.ErrConflict, r.Secret, r.Group),
			"this server has no key for secrets; make one with \"carillon secret keygen\", and start the server with --master-key FILE")
	case r.Body.Value == "":
		return nil, problem.Invalid("value", "is empty; delete the secret instead")
	case len(r.Body.Value) > job.MaxSecret:
		return nil, problem.Invalid("value", fmt.Sprintf("has %d bytes; a secret may have at most %d", len(r.Body.Value), job.MaxSecret))
	case strings.ContainsRune(r.Body.Value, 0):
		return nil, problem.Invalid("value", "has a NUL byte, which no variable can hold")
	}
	key := h.master.Group(r.Group)
	s := &bus.Secret{
		Group: r.Group, Secret: r.Secret, Description: r.Body.Description, Author: access.Author(ctx),
		UpdatedAt: time.Now().UTC().Truncate(time.Millisecond), KeyID: key.ID(), Sealed: key.Seal(r.Secret, r.Body.Value),
	}
	if err := h.conn.PutSecret(ctx, s); err != nil {
		return nil, err
	}
	return PutSecret200JSONResponse(secretItem(s)), nil
}

// DeleteSecret answers DELETE /groups/{group}/secrets/{secret}.
func (h *handlers) DeleteSecret(ctx context.Context, r DeleteSecretRequestObject) (DeleteSecretResponseObject, error) {
	if err := checkSecret(r.Group, r.Secret); err != nil {
		return nil, err
	}
	if err := h.conn.DeleteSecret(ctx, r.Group, r.Secret); err != nil {
		return nil, err
	}
	return DeleteSecret204Response{}, nil
}

func checkSecret(group, name string) error {
	if err := job.CheckSlug("group", group); err != nil {
		return err
	}
	return job.CheckSecretName("secret", name)
}
