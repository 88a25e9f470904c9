package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestParseSaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Parse(text, 0)
		if err == nil {
			t.Errorf("Parse(%q) accepts it, want %s", text, want)
			return
		}
		if _, ok := errors.AsType[*ParseError](err); !ok {
			t.Errorf("Parse(%q) returns a %T", text, err)
		}
		if err.Error() != want {
			t.Errorf("Parse(%q)\n got %s\nwant %s", text, err, want)
		}
	}
	f("", `expression "" has 0 fields; must have 5 (Unix cron) or 6 or 7 (Quartz)`)
	f("* * * *", `expression "* * * *" has 4 fields; must have 5 (Unix cron) or 6 or 7 (Quartz)`)
	f("60 * * * *", `minute "60" must be a number from 0 to 59`)
	f("* 24 * * *", `hour "24" must be a number from 0 to 23`)
	f("* * 0 * *", `day of month "0" must be a number from 1 to 31`)
	f("* * * foo *", `month "foo" must be a number from 1 to 12 or a name from JAN to DEC`)
	f("* * * * 1,8", `day of week "8" must be a number from 0 to 7 or a name from SUN to SAT`)
	f("* * * * MONDAY", `day of week "MONDAY" must not have "DAY" after "MON"; must be a number from 0 to 7 or a name from SUN to SAT`)
	f("* * ? * *", `day of month "?" must be a number from 1 to 31; ?, L, W and # are for six fields: write 0 * * ? * *`)
	f("5/15 * * * *", `minute "5/15" must have a step only after "*" or a range, such as 5-59/15`)
	f("* 22-2 * * *", `hour "22-2" must not end before it starts; write 22-23,0-2`)
	f("0 22-2/2 * * *", `hour "22-2/2" must not end before it starts; write 22,0,2`)
	f("0 17-2/3 * * *", `hour "17-2/3" must not end before it starts; write 17,20,23,2`)
	f("58-2/2 * * * *", `minute "58-2/2" must not end before it starts; write 58,0,2`)
	f("0 0 * * sat-sun", `day of week "sat-sun" must not end before it starts; write 6,0`)
	f("0 0 * * mon-sun", `day of week "mon-sun" must not end before it starts; write 1-6,0`)
	f("0 0 0 1 1 ? 2030-2027", `year "2030-2027" must not end before it starts`)
	f("H H(22-2)/2 * * *", `hour "H(22-2)/2" must not end before it starts`)
	f("*/0 * * * *", `minute "*/0" must have a number from 1 on after /`)
	f("1,,2 * * * *", `minute "" must be a number from 0 to 59`)
	f("99999999999 * * * *", `minute "99999999999" must be a number from 0 to 59`)
	f("0/60 * * * * ?", `second "0/60" must have a step of at most 59`)
	f("0 0 0 ? * MON/2", `day of week "MON/2" must be in numbers, since Quartz ignores a step after a name`)
	f("0 0 0 ? * 6#6", `day of week "6#6" must have a number from 1 to 5 after #`)
	f("0 0 0 ? * L,2", `day of week "L" must be a number from 1 to 7 or a name from SUN to SAT`)
	f("0 0 0 ? * 2,6L", `day of week "6L" must be the only value of the field: L cannot be in a list; make a job for each value`)
	f("0 0 0 L-31 * ?", `day of month "L-31" must have a number from 0 to 30 after L-`)
	f("0 0 0 1 1 ? 3000", `year "3000" must be a number from 1970 to 2125`)
	f("0 0 0 * * *", `day of week "*" must be "?", since day of month is not (Quartz, 6 or 7 fields); write 0 0 0 * * ?`)
	f("0 0 0 1 * MON", `day of week "MON" must be "?", since day of month is not (Quartz, 6 or 7 fields)`)
	f("0 0 0 ? * ?", `day of week "?" must not be "?" too; day of month is`)
	f("0 0 0 ? * 2#1,2#3", `day of week "2#1" must be the only value of the field: # cannot be in a list; make a job for each value`)
	f("0 15 * * 5#2", `day of week "5#2" must not have "#2" after "5"; must be a number from 0 to 7 or a name from SUN to SAT; ?, L, W and # are for six fields: write 0 0 15 ? * 6#2`)
	f("0 0 L * *", `day of month "L" must be a number from 1 to 31; ?, L, W and # are for six fields: write 0 0 0 L * ?`)
	f("0 0 15W * *", `day of month "15W" must not have "W" after "15"; must be a number from 1 to 31; ?, L, W and # are for six fields: write 0 0 0 15W * ?`)
	f("0 0 * * FRIL", `day of week "FRIL" must not have "L" after "FRI"; must be a number from 0 to 7 or a name from SUN to SAT; ?, L, W and # are for six fields: write 0 0 0 ? * FRIL`)
	f("0 0 * * L", `day of week "L" must be a number from 0 to 7 or a name from SUN to SAT; ?, L, W and # are for six fields, the first of them seconds`)
	f("45 23 ? 3,6,9,12 6#3", `day of month "?" must be a number from 1 to 31; ?, L, W and # are for six fields: write 0 45 23 ? 3,6,9,12 7#3`)
	f("0 0 * * 1/2", `day of week "1/2" must have a step only after "*" or a range, such as 1-6/2`)
	f("H(5) * * * *", `minute "H(5)" must have a range in brackets, such as H(0-59)`)
	f("H(0-9 * * * *", `minute "H(0-9" must have a closing bracket after the range`)
	f("H(0-9)/11 * * * *", `minute "H(0-9)/11" must have a step of at most 10`)
	f("H-5 * * * *", `minute "H-5" must not have "-5" after "H"; must be a number from 0 to 59`)
	f("0 0 0 1 1 ? H", `year "H" must be a number from 1970 to 2125`)
	f("CRON_TZ=UTC 0 0 * * *", `expression "CRON_TZ=UTC" must not name a zone; the schedule has a time zone of its own`)
	f("@reboot", `macro "@reboot" is not supported: a cluster does not boot; start such work with the machine's init system`)
	f("@every 5s", `macro "@every 5s" has no calendar fields; @every is a schedule of its own`)
	f("@fortnightly", `macro "@fortnightly" is not known; must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly`)
	f(strings.Repeat("* ", 513), `expression "* * * * * * * * * * * * * * * * * * * * …" is 1026 bytes long; must be at most 1024`)
	f("ſun * * * *", `minute "ſun" must be a number from 0 to 59`)
}

func TestBlanksAroundAndBetweenFieldsDoNotMatter(t *testing.T) {
	want, err := Parse("0 0 * * 1", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("\t 0  0\t* *   1 \r\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if *got != *want {
		t.Errorf("got %+v, want %+v", *got, *want)
	}
}

func TestMacrosStandForFiveFields(t *testing.T) {
	for text, fields := range macros {
		want, err := Parse(fields, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if *got != *want {
			t.Errorf("%s is not %q", text, fields)
		}
	}
}

func TestMacroFindsWhatIsNoCalendar(t *testing.T) {
	f := func(text string, kind Kind, arg string, ok bool) {
		t.Helper()
		if k, a, o := Macro(text); k != kind || a != arg || o != ok {
			t.Errorf("Macro(%q) = %v, %q, %v", text, k, a, o)
		}
	}
	f("@every 90s", Every, "90s", true)
	f("  @every\t1h 30m \n", Every, "1h 30m", true)
	f("@every", Every, "", true)
	f("@at 2026-01-01T00:00:00+01:00", At, "2026-01-01T00:00:00+01:00", true)
	f("@everyday 1h", 0, "", false)
	f("@daily", 0, "", false)
	f("@reboot", 0, "", false)
	f("* * * * *", 0, "", false)
	f("", 0, "", false)
}

func TestExpressionsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(Expr{}); size > 64 {
		t.Errorf("an Expr takes %d bytes: a million of them no longer fit where they should", size)
	}
}

func TestPoliciesReadBackFromTheirText(t *testing.T) {
	for _, text := range []string{
		"auto", "quartz", "vixie", "gap=skip", "gap=fire", "overlap=first", "overlap=last", "overlap=both",
		"gap=skip,overlap=first", "gap=skip,overlap=both", "gap=fire,overlap=first", "gap=fire,overlap=last", "gap=fire,overlap=both",
	} {
		p, err := ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != text {
			t.Errorf("%q reads back as %q", text, p)
		}
	}
	f := func(text string, want Policy) {
		t.Helper()
		if got, err := ParsePolicy(text); err != nil || got != want {
			t.Errorf("ParsePolicy(%q) = %v, %v", text, got, err)
		}
	}
	f("", DefaultPolicy)
	f("gap=skip,overlap=last", QuartzPolicy)
	f("overlap=last,gap=skip", QuartzPolicy)
}

func TestWrongPoliciesAreRefused(t *testing.T) {
	for _, text := range []string{"Quartz", "gap", "gap=", "gap=last", "overlap=fire", "gap=skip,", "gap=skip,gap=fire", "overlap=last,overlap=last", "gap=skip overlap=last", "quartz,gap=fire"} {
		if p, err := ParsePolicy(text); err == nil {
			t.Errorf("ParsePolicy(%q) = %v", text, p)
		}
	}
}

func TestPoliciesDecideTheNightsWhenClocksMove(t *testing.T) {
	zone, err := LoadZone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	f := func(policy, text, after, want string) {
		t.Helper()
		p, err := ParsePolicy(policy)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, fire := range fires(e, zone, p, from, 3) {
			if fire == "none" {
				got = append(got, fire)
				break
			}
			got = append(got, fire[len("2025-"):len("2025-03-30T02:00")]+fire[len("2025-03-30T02:00:00"):])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s %q\n got %s\nwant %s", policy, text, strings.Join(got, " "), want)
		}
	}
	spring, autumn := "2025-03-29T12:00:00Z", "2025-10-25T12:00:00Z"
	f("auto", "10,30 1 * * *", spring, "03-30T02:00+01:00 03-31T01:10+01:00 03-31T01:30+01:00")
	f("gap=skip", "30 1 * * *", spring, "03-31T01:30+01:00 04-01T01:30+01:00 04-02T01:30+01:00")
	f("quartz", "30 1 * * *", spring, "03-31T01:30+01:00 04-01T01:30+01:00 04-02T01:30+01:00")
	f("auto", "30 1 * * *", autumn, "10-26T01:30+01:00 10-27T01:30Z 10-28T01:30Z")
	f("overlap=last", "30 1 * * *", autumn, "10-26T01:30Z 10-27T01:30Z 10-28T01:30Z")
	f("overlap=both", "30 1 * * *", autumn, "10-26T01:30+01:00 10-26T01:30Z 10-27T01:30Z")
	f("overlap=both", "0 30 1 26 10 ? 2025", autumn, "10-26T01:30+01:00 10-26T01:30Z none")
	f("overlap=last", "0 30 1 26 10 ? 2025", autumn, "10-26T01:30Z none")
	f("auto", "30 * * * *", "2025-03-30T00:00:00Z", "03-30T00:30Z 03-30T02:30+01:00 03-30T03:30+01:00")
	f("gap=fire", "30 * * * *", "2025-03-30T00:00:00Z", "03-30T00:30Z 03-30T02:00+01:00 03-30T02:30+01:00")
	f("auto", "30 * * * *", "2025-10-26T00:00:00Z", "10-26T01:30+01:00 10-26T01:30Z 10-26T02:30Z")
	f("overlap=first", "30 * * * *", "2025-10-26T00:00:00Z", "10-26T01:30+01:00 10-26T02:30Z 10-26T03:30Z")
	f("auto", "*/30 1 * * *", autumn, "10-26T01:00+01:00 10-26T01:30+01:00 10-27T01:00Z")
	f("vixie", "*/30 1 * * *", autumn, "10-26T01:00+01:00 10-26T01:30+01:00 10-26T01:00Z")
}
