package cron

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// maxText is the longest text that Parse reads, in bytes.
const maxText = 1024

// maxQuoted is how much of it an error quotes, in bytes.
const maxQuoted = 40

// blanks separate fields, and may surround them.
const blanks = " \t\r\n"

// ParseError says which part of an input is wrong and what would be right.
type ParseError struct {
	Field  string // such as "hour", "expression", "zone"
	Text   string // the part that is wrong, as typed; shortened when long
	Reason string // reads on after Field and Text: "must be …", "is not …"
}

// Error returns the three parts in one line.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s %q %s", e.Field, e.Text, e.Reason)
}

// Parse reads five fields as Unix cron, six or seven as Quartz, and macros such as
// @daily; the package comment has the grammar. Letters may be of either case, macros
// are in lower case. The seed, a hash of the job, chooses the values of H.
//
// Text may have up to 1024 bytes. An expression that is well formed but never fires,
// such as "0 0 30 2 *", is no error. The error is a *[ParseError].
func Parse(text string, seed uint64) (*Expr, error) {
	if len(text) > maxText {
		return nil, &ParseError{"expression", clip.Text(text, maxQuoted), fmt.Sprintf("is %d bytes long; must be at most %d", len(text), maxText)}
	}
	text = strings.Trim(text, blanks)
	fields := text
	if strings.HasPrefix(text, "@") {
		var err error
		if fields, err = expandMacro(text); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(text, "CRON_TZ=") || strings.HasPrefix(text, "TZ=") {
		word, _ := cutWord(text)
		return nil, &ParseError{"expression", clip.Text(word, maxQuoted), "must not name a zone; the schedule has a time zone of its own"}
	}
	p := parser{seed: seed, expr: &Expr{}}
	var err error
	switch f := split(fields); len(f) {
	case 5:
		if err = p.unix(f); err != nil {
			err = adviseQuartz(err, f)
		}
	case 6, 7:
		if err = p.quartz(f); err != nil {
			err = adviseAmazon(err, text)
		}
	default:
		why := "has 1 field"
		if len(f) != 1 {
			why = fmt.Sprintf("has %d fields", len(f))
		}
		err = &ParseError{"expression", clip.Text(text, maxQuoted), why + "; must have 5 (Unix cron) or 6 or 7 (Quartz)" + foreign(text)}
	}
	if err != nil {
		return nil, err
	}
	p.expr.finish()
	return p.expr, nil
}

// ofQuartz matches what only six fields have.
var ofQuartz = regexp.MustCompile(`(?i)^\?$|^(L|LW|[0-9]+W|L-[0-9]+W?)$|^([0-9]|[a-z]{3})(L|#[0-9])$`)

// adviseQuartz adds to the error about five fields that six have what was meant, if that is so. The
// proposal counts days of the week from 1, as Quartz does.
func adviseQuartz(err error, unix []string) error {
	bad, ok := errors.AsType[*ParseError](err)
	day, week := unix[2], unix[4]
	if !ok || !ofQuartz.MatchString(day) && !ofQuartz.MatchString(week) || bad.Field != unixDom.name && bad.Field != unixDow.name {
		return err
	}
	if len(week) > 0 && week[0] >= '0' && week[0] <= '7' {
		week = strconv.Itoa(int(week[0]-'0')%7+1) + week[1:]
	}
	switch {
	case week == "*" && day != "?":
		week = "?"
	case day == "*" && week != "?":
		day = "?"
	}
	proposal := strings.Join([]string{"0", unix[0], unix[1], day, unix[3], week}, " ")
	if _, err := Parse(proposal, 0); err != nil || strings.EqualFold(week, "L") || strings.ContainsAny(unix[4], "-,/") {
		bad.Reason += "; ?, L, W and # are for six fields, the first of them seconds"
		return bad
	}
	bad.Reason += "; ?, L, W and # are for six fields: write " + proposal
	return bad
}

// parser fills in an expression from its fields.
type parser struct {
	seed uint64
	expr *Expr
}

// unix reads the five fields of Unix cron.
func (p *parser) unix(f []string) (err error) {
	e := p.expr
	e.second = 1
	if e.minute, err = mask[uint64](p, &unixMinute, f[0]); err != nil {
		return err
	}
	if e.hour, err = mask[uint32](p, &unixHour, f[1]); err != nil {
		return err
	}
	if e.dom, err = mask[uint32](p, &unixDom, f[2]); err != nil {
		return err
	}
	if e.month, err = mask[uint16](p, &unixMonth, f[3]); err != nil {
		return err
	}
	if e.dow, err = mask[uint8](p, &unixDow, f[4]); err != nil {
		return err
	}
	e.dow = (e.dow | e.dow>>7) & allWeek // 7 is Sunday too
	if f[0][0] == '*' || f[1][0] == '*' {
		e.flags |= starClock
	}
	// Vixie looks at the first character, so "*/2" counts as a star and "1-31" does not.
	domStar, dowStar := f[2][0] == '*', f[4][0] == '*'
	if e.dom != allDays || !domStar {
		e.flags |= domRestricts
	}
	if e.dow != allWeek || !dowStar {
		e.flags |= dowRestricts
	}
	if !domStar && !dowStar {
		e.flags |= eitherDay
	}
	return nil
}

// quartz reads the six or seven fields of Quartz.
func (p *parser) quartz(f []string) (err error) {
	e := p.expr
	if e.second, err = mask[uint64](p, &quartzSecond, f[0]); err != nil {
		return err
	}
	if e.minute, err = mask[uint64](p, &quartzMinute, f[1]); err != nil {
		return err
	}
	if e.hour, err = mask[uint32](p, &quartzHour, f[2]); err != nil {
		return err
	}
	if err = p.quartzDays(f[3], f[5]); err != nil {
		return adviseDays(err, f)
	}
	if e.month, err = mask[uint16](p, &quartzMonth, f[4]); err != nil {
		return err
	}
	if f[1][0] == '*' || f[2][0] == '*' {
		e.flags |= starClock
	}
	if len(f) == 7 && f[6] != "*" {
		return p.yearField(f[6])
	}
	return nil
}

// quartzDays reads the two day fields, of which exactly one must be "?".
func (p *parser) quartzDays(dom, dow string) error {
	switch {
	case dom == "?" && dow == "?":
		return &ParseError{quartzDow.name, dow, `must not be "?" too; day of month is`}
	case dom == "?":
		return p.dowField(dow)
	case dow == "?":
		return p.domField(dom)
	case dom == "*" && dow != "*":
		return &ParseError{quartzDom.name, dom, `must be "?", since day of week is not (Quartz, 6 or 7 fields)`}
	default:
		return &ParseError{quartzDow.name, clip.Text(dow, maxQuoted), `must be "?", since day of month is not (Quartz, 6 or 7 fields)`}
	}
}

// adviseDays adds to the error about two day fields the expression with a ? for the one that is *, as
// those who write it so mean it.
func adviseDays(err error, fields []string) error {
	bad, ok := errors.AsType[*ParseError](err)
	f := slices.Clone(fields)
	switch {
	case f[5] == "*":
		f[5] = "?"
	case f[3] == "*":
		f[3] = "?"
	default:
		return err
	}
	proposal := strings.Join(f, " ")
	if _, err := Parse(proposal, 0); err == nil && ok {
		bad.Reason += "; write " + proposal
	}
	return bad
}

// domField reads the day of month: values, L, L-n, nW, LW and L-nW.
func (p *parser) domField(text string) error {
	e := p.expr
	for item := range strings.SplitSeq(text, ",") {
		s := scanner{field: &quartzDom, seed: p.seed, item: item}
		if s.accept('L') {
			before := 0
			if s.accept('-') {
				n, ok := s.number()
				if !ok || n > 30 {
					return s.fail("must have a number from 0 to 30 after L-")
				}
				before = n
			}
			if s.accept('W') {
				e.domLastW |= 1 << before
			} else {
				e.domLast |= 1 << before
			}
		} else {
			sp, err := s.span()
			if err != nil {
				return err
			}
			if sp.lone && s.accept('W') {
				e.domNear |= 1 << sp.from
			} else {
				setBits(&e.dom, sp)
			}
		}
		if err := s.end(); err != nil {
			return err
		}
	}
	if e.dom != allDays {
		e.flags |= domRestricts
	}
	return nil
}

// dowField reads the day of week: values, L (Saturday), nL and n#k; the last two
// only on their own, since Quartz forgets all but the last of several.
func (p *parser) dowField(text string) error {
	e := p.expr
	alone := !strings.Contains(text, ",")
	for item := range strings.SplitSeq(text, ",") {
		s := scanner{field: &quartzDow, seed: p.seed, item: item}
		if alone && s.accept('L') {
			e.dow |= 1 << 6
			if err := s.end(); err != nil {
				return err
			}
			continue
		}
		sp, err := s.span()
		if err != nil {
			return err
		}
		switch {
		case sp.lone && alone && s.accept('L'):
			e.nth |= 1 << (5*7 + sp.from)
		case sp.lone && alone && s.accept('#'):
			n, ok := s.number()
			if !ok || n < 1 || n > 5 {
				return s.fail("must have a number from 1 to 5 after #")
			}
			e.nth |= 1 << ((n-1)*7 + sp.from)
		default:
			setBits(&e.dow, sp)
		}
		if err := s.end(); err != nil {
			return err
		}
	}
	if e.dow != allWeek {
		e.flags |= dowRestricts
	}
	return nil
}

// yearField reads the year field.
func (p *parser) yearField(text string) error {
	p.expr.years = new(yearSet)
	for item := range strings.SplitSeq(text, ",") {
		s := scanner{field: &quartzYear, seed: p.seed, item: item}
		sp, err := s.span()
		if err != nil {
			return err
		}
		if err := s.end(); err != nil {
			return err
		}
		for y := range sp.values {
			p.expr.years.add(y)
		}
	}
	return nil
}

// split returns the fields of a text.
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
}
