package database

import (
	"context"
	"fmt"
)

// textIndex is the index of the words of log lines. It is of the expression that is
// asked for: with a preprocessor instead, 26.7 finds wrong rows.
const textIndex = "ix_text lower(text) TYPE text(tokenizer = 'splitByNonAlpha')"

// indexText sees to it that there is an index of words, or none, as the address says.
// Lines that are there when it is added are not indexed, and found all the same.
func (d *Database) indexText(ctx context.Context, lock func(context.Context) (func(), error)) error {
	there, err := d.hasTextIndex(ctx)
	if err != nil || there == d.Layout.TextIndex {
		return err
	}
	unlock, err := lock(ctx)
	if err != nil {
		return fmt.Errorf("lock schema of %s: %w", d.Name, err)
	}
	defer unlock()
	change := "DROP INDEX IF EXISTS ix_text"
	if d.Layout.TextIndex {
		change = "ADD INDEX IF NOT EXISTS " + textIndex
	}
	if err := d.Conn.Exec(ctx, "ALTER TABLE "+d.Layout.Local("run_logs")+" "+d.Layout.OnCluster()+" "+change); err != nil {
		return fmt.Errorf("change index of words of %s: %w", d.Name, Explain(err))
	}
	return nil
}

func (d *Database) hasTextIndex(ctx context.Context) (bool, error) {
	var n uint64
	err := d.Conn.QueryRow(ctx, "SELECT count() FROM system.data_skipping_indices WHERE database = ? AND table = ? AND name = 'ix_text'",
		d.Layout.Database, d.Layout.Local("run_logs")).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for index of words of %s: %w", d.Name, Explain(err))
	}
	return n > 0, nil
}
