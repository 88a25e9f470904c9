package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// User is who of ClickHouse's users people ask as: one who may only read, within limits
// that the server sets (deploy/clickhouse).
type User struct {
	conn  driver.Conn
	audit string // the table of the audit log
}

// Open opens the connections of the user that an address names. It does not connect.
func Open(address, audit string) (*User, error) {
	options, _, err := database.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read address for SQL: %w", err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("open log store for SQL: %w", err)
	}
	return &User{conn: conn, audit: audit}, nil
}

// Close closes the connections.
func (u *User) Close() error { return u.conn.Close() }

// Ask is that of [logstore.Asked].
func (u *User) Ask(ctx context.Context, statement string, audit bool) (logstore.Answer, error) {
	statement, err := readStatement(statement)
	if err != nil {
		return nil, err
	}
	if !audit {
		if err := u.keepsAudit(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := u.conn.Query(ctx, statement)
	if err != nil {
		return nil, explainAsked(err)
	}
	a := &answer{rows: rows}
	for _, t := range rows.ColumnTypes() {
		a.columns = append(a.columns, logstore.AnswerColumn{Name: t.Name(), Type: t.DatabaseTypeName()})
		a.targets = append(a.targets, reflect.New(t.ScanType()).Interface())
	}
	return a, nil
}

// keepsAudit returns job.ErrConflict if the user for SQL may read the audit log. It asks
// as that user: what a statement reads cannot be told from its text.
func (u *User) keepsAudit(ctx context.Context) error {
	rows, err := u.conn.Query(ctx, "SELECT id FROM "+u.audit+" LIMIT 0")
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	var exception *clickhouse.Exception
	switch {
	case err == nil:
		return fmt.Errorf("%w: the user of --sql may read the audit log, so only administrators may ask; take its grant for %s away", job.ErrConflict, u.audit)
	case errors.As(err, &exception) && exception.Code == 497: // not enough privileges
		return nil
	}
	return explainAsked(err)
}

// answer is the rows of a statement.
type answer struct {
	rows    driver.Rows
	columns []logstore.AnswerColumn
	targets []any // pointers, one a column
}

// Columns implements [logstore.Answer].
func (a *answer) Columns() []logstore.AnswerColumn { return a.columns }

// Next implements [logstore.Answer].
func (a *answer) Next() ([]any, error) {
	if !a.rows.Next() {
		return nil, explainAsked(a.rows.Err())
	}
	for _, t := range a.targets { // what is NULL leaves a target as it is
		reflect.ValueOf(t).Elem().SetZero()
	}
	if err := a.rows.Scan(a.targets...); err != nil {
		return nil, fmt.Errorf("read row: %w", err)
	}
	row := make([]any, len(a.targets))
	for i, t := range a.targets {
		row[i] = plain(reflect.ValueOf(t).Elem(), a.columns[i].Type)
	}
	return row, nil
}

// Close implements [logstore.Answer].
func (a *answer) Close() error { return a.rows.Close() }

// plain returns a value of the driver's as [logstore.Answer] gives values.
func plain(v reflect.Value, kind string) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		if text, ok := reflect.TypeAssert[fmt.Stringer](v); ok && v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct && v.Type() != reflect.TypeFor[*time.Time]() {
			return text.String() // large numbers
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if strings.Contains(kind, "Date") && !strings.Contains(kind, "DateTime") {
			return x.Format(time.DateOnly)
		}
		return x.UTC().Format("2006-01-02T15:04:05.000Z")
	case uuid.UUID:
		return x.String()
	case fmt.Stringer:
		return x.String()
	case []byte:
		if !strings.HasPrefix(kind, "Array") {
			return string(x)
		}
	case float64:
		return finite(x)
	case float32:
		return finite(float64(x))
	}
	kindOf := v.Kind()
	if kindOf == reflect.Slice || kindOf == reflect.Array {
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i), kind)
		}
		return list
	}
	if kindOf == reflect.Map {
		all := make(map[string]any, v.Len())
		for key, value := range v.Seq2() {
			all[fmt.Sprint(plain(key, kind))] = plain(value, kind)
		}
		return all
	}
	return v.Interface()
}

// finite returns nil for what JSON has no number for.
func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

func refuse(reason string) error { return &job.InvalidError{Field: "query", Reason: reason} }

// explainAsked gives what the server says to people's SQL its kind: almost all of it is
// about what they ask.
func explainAsked(err error) error {
	var exception *clickhouse.Exception
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refuse("took longer than it may")
	case !errors.As(err, &exception):
		return database.Explain(err)
	}
	switch exception.Code {
	case 516, 192, 193, 210, 209:
		return database.Explain(err)
	case 159, 160:
		return refuse("took longer than it may")
	case 497:
		return refuse("asks for what people may not read: " + firstLine(exception.Message))
	}
	return refuse("is refused by ClickHouse: " + firstLine(exception.Message))
}

// firstLine cuts a message before what is only for the server's own people.
func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	line, _, _ = strings.Cut(line, "Stack trace")
	return strings.ToValidUTF8(clip.Text(line, 500), "?")
}
