package xxljob

import (
	"context"
	"slices"
	"strings"
)

// The tables that are read.
const (
	infoTable  = "xxl_job_info"
	groupTable = "xxl_job_group"
)

// row is a row of a table: its values by column. NULL is not in it.
type row struct {
	line   int
	values map[string]string
}

// get returns the value of a column, without the white space around it; "" if it is NULL, or
// no column of this version of XXL-JOB.
func (r row) get(column string) string { return strings.TrimSpace(r.values[column]) }

// tables returns the rows of the two tables in the order of the dump, or the cause of ctx.
func tables(ctx context.Context, data []byte) (infos, groups []row, err error) {
	rows := map[string][]row{}
	columns := map[string][]string{}
	s := newScanner(data)
	for {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		tokens, err := s.statement()
		if err != nil {
			return nil, nil, err
		}
		if len(tokens) == 0 {
			break
		}
		p := parser{tokens: tokens}
		switch {
		case p.accept("CREATE") && p.accept("TABLE"):
			if table := p.table("IF", "NOT", "EXISTS"); table != "" {
				columns[table] = p.defined()
			}
		case p.accept("INSERT") || p.accept("REPLACE"):
			table := p.table("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO")
			if table == "" {
				continue
			}
			more, err := p.inserted(table, columns[table])
			if err != nil {
				return nil, nil, err
			}
			rows[table] = append(rows[table], more...)
		}
	}
	if len(rows[infoTable]) == 0 {
		return nil, nil, wrong("has no row of %s; make it with mysqldump xxl_job %s %s", infoTable, groupTable, infoTable)
	}
	return rows[infoTable], rows[groupTable], nil
}

// parser goes through the tokens of one statement.
type parser struct {
	tokens []token
	at     int
}

// accept passes over a keyword or a mark if it comes next.
func (p *parser) accept(text string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at].is(text) {
		p.at++
		return true
	}
	return false
}

// table passes over keywords and the name of a table, which may have its database before
// it. It returns "" for one that is not read.
func (p *parser) table(keywords ...string) string {
	for slices.ContainsFunc(keywords, p.accept) {
	}
	name := ""
	for p.at < len(p.tokens) && p.tokens[p.at].kind != stringToken {
		name = strings.ToLower(p.tokens[p.at].text)
		p.at++
		if !p.accept(".") {
			break
		}
	}
	if name == infoTable || name == groupTable {
		return name
	}
	return ""
}

// notColumns begin parts of a table's definition that are no columns.
var notColumns = []string{"PRIMARY", "KEY", "UNIQUE", "INDEX", "CONSTRAINT", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK"}

// defined returns the names of the columns that a CREATE TABLE lists.
func (p *parser) defined() []string {
	var names []string
	p.accept("(")
	for depth, begins := 1, true; p.at < len(p.tokens) && depth > 0; p.at++ {
		t := p.tokens[p.at]
		switch {
		case begins && (t.kind == nameToken || !slices.ContainsFunc(notColumns, t.is)):
			names = append(names, strings.ToLower(t.text))
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		begins = depth == 1 && t.is(",")
	}
	return names
}

// inserted returns the rows of an INSERT. It names its columns itself, or has those of the table.
func (p *parser) inserted(table string, columns []string) ([]row, error) {
	if p.accept("(") {
		columns = nil
		for p.at < len(p.tokens) && !p.accept(")") {
			if !p.accept(",") {
				columns = append(columns, strings.ToLower(p.tokens[p.at].text))
				p.at++
			}
		}
	}
	if !p.accept("VALUES") && !p.accept("VALUE") {
		return nil, nil // INSERT … SELECT, which no dump has
	}
	var rows []row
	for p.at < len(p.tokens) {
		line := p.tokens[p.at].line
		if p.accept(",") {
			continue
		}
		if !p.accept("(") {
			return rows, nil // ON DUPLICATE KEY UPDATE
		}
		if len(columns) == 0 {
			return nil, wrong("line %d: rows of %s do not say which columns they have; dump with CREATE TABLE, or with --complete-insert", line, table)
		}
		r := row{line: line, values: map[string]string{}}
		n := p.values(func(i int, text string) {
			if i < len(columns) {
				r.values[columns[i]] = text
			}
		})
		if n != len(columns) {
			return nil, wrong("line %d: a row of %s has %d values for %d columns", line, table, n, len(columns))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// values passes over the values of a row, up to and including its closing parenthesis. It
// returns how many there are, and gives each that is a literal and not NULL.
func (p *parser) values(give func(i int, text string)) int {
	n, depth := 1, 1
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		p.at++
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return n
			}
		case t.is(",") && depth == 1:
			n++
		case t.is("NULL"), depth > 1:
		case t.kind == stringToken, t.kind == wordToken && !strings.HasPrefix(t.text, "_"): // _utf8mb4 'text'
			give(n-1, t.text)
		}
	}
	return n
}
