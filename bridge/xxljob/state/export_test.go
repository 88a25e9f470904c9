package state

import "context"

// Put stores any value under any key.
func (s *Store) Put(ctx context.Context, key string, value any) error {
	_, err := s.put(ctx, key, value, 0, condition{revision: anyRevision})
	return err
}
