package cron

import (
	"errors"
	"regexp"
	"strings"
)

// How other schedulers write a schedule.
var (
	amazon   = regexp.MustCompile(`^cron\((.*)\)$`)
	interval = regexp.MustCompile(`^(?:rate\(|every )([0-9]+) ?(s|m|h|second|minute|hour)s?\)?$`)
	systemd  = regexp.MustCompile(`^(?:\S+ )?(?:\S+-\S+ )?[0-9*/,.]+:[0-9*/,.:]+$`)
)

// foreign returns what to write instead of text that is no cron expression; "" if nobody knows.
func foreign(text string) string {
	word := strings.ToLower(text)
	if _, ok := macros["@"+word]; ok {
		return "; write @" + word
	}
	if m := interval.FindStringSubmatch(word); m != nil {
		return "; write @every " + m[1] + m[2][:1]
	}
	if systemd.MatchString(text) {
		return "; a calendar event of systemd is no cron expression: Mon..Fri 02:30 is 30 2 * * mon-fri"
	}
	return ""
}

// adviseAmazon adds to an error about cron(…), which has no seconds, the expression that means it.
func adviseAmazon(err error, text string) error {
	bad, ok := errors.AsType[*ParseError](err)
	m := amazon.FindStringSubmatch(text)
	if !ok || m == nil {
		return err
	}
	proposal := "0 " + m[1]
	if _, err := Parse(proposal, 0); err == nil {
		bad.Reason += "; write " + proposal
	}
	return bad
}
