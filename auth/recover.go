package auth

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Recover makes a user who may do everything, whether there is one of that name or not,
// and returns the secret of an invitation to choose a password. It is for whoever
// operates NATS, who could write it there as well; it asks nobody. Errors:
// *job.InvalidError, job.ErrUnavailable.
func (d *Directory) Recover(ctx context.Context, name string) (secret string, expires time.Time, err error) {
	all := rights.Access{Role: rights.Admin, Group: rights.Everywhere}
	_, err = d.users.Get(ctx, name)
	switch {
	case errors.Is(err, job.ErrNotFound):
		_, err = d.users.create(ctx, User{Name: name, Access: rights.List{all}})
	case err == nil:
		_, err = d.users.edit(ctx, name, 0, func(u *User) error {
			u.Disabled, u.Invitation = false, ""
			if !u.Access.May(rights.Admin, rights.Everywhere) {
				u.Access = append(u.Access, all)
			}
			return nil
		})
	}
	if err != nil {
		return "", time.Time{}, err
	}
	return d.Invite(ctx, name)
}
