package alerting

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAMonthIsReportedFromItsDayOnForAWeek(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	f := func(day int, zone *time.Location, now, month string) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Monthly{Day: day}).Due(at, zone); got != month {
			t.Errorf("on day %d in %s, %q is due at %s; want %q", day, zone, got, now, month)
		}
	}
	f(1, time.UTC, "2026-11-01T07:59:59Z", "")
	f(1, time.UTC, "2026-11-01T08:00:00Z", "2026-10")
	f(1, time.UTC, "2026-11-08T08:00:00Z", "2026-10")
	f(1, time.UTC, "2026-11-08T08:00:01Z", "")
	f(28, time.UTC, "2027-01-01T00:00:00Z", "2026-11") // on 28 December, four days ago
	f(28, time.UTC, "2027-01-28T08:00:00Z", "2026-12")
	f(1, time.UTC, "2027-01-01T08:00:00Z", "2026-12")
	f(1, shanghai, "2026-10-31T23:59:59Z", "")
	f(1, shanghai, "2026-11-01T00:00:00Z", "2026-10")
}

func TestAReportOfAMonthHasOneID(t *testing.T) {
	now := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	c := Channel{Channel: "mail", Month: &Monthly{Day: 1, Group: "billing", Owner: "ann & bob"}}
	one, err := NewReport(&c, "2026-10", now)
	if err != nil {
		t.Fatal(err)
	}
	if one.Report.Path != "/reports/month?group=billing&month=2026-10&owner=ann+%26+bob" || one.Summary != "Report of 2026-10, group billing, owner ann & bob" ||
		one.SummaryIn(Reader{Language: Chinese}) != "2026-10 月报，分组 billing，负责人 ann & bob" || one.Deliveries[0].Kind != MonthReport {
		t.Errorf("the report is %+v with %+v", one, one.Report)
	}
	c.Zone, c.Month = "Asia/Shanghai", &Monthly{Day: 3}
	if again, err := NewReport(&c, "2026-10", now.AddDate(0, 0, 3)); err != nil || again.ID != one.ID {
		t.Errorf("after a change the report is %s, and was %s: %v", again.ID, one.ID, err)
	}
	if other, err := NewReport(&c, "2026-11", now); err != nil || other.ID == one.ID {
		t.Errorf("the next month has the id %s, too: %v", other.ID, err)
	}
	for _, month := range []string{"", "2026", "2026-13"} {
		if _, err := NewReport(&c, month, now); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("month %q: %v", month, err)
		}
	}
}

func TestOnlyAMailReportsAMonthOfADayThatEachMonthHas(t *testing.T) {
	f := func(kind Kind, m Monthly, field string) {
		t.Helper()
		c := Channel{Channel: "c", Kind: kind, Month: &m}
		if kind == KindEmail {
			c.Email = &Email{Host: "mail.test", From: "a@example.org", To: []string{"b@example.org"}}
		} else {
			c.URL = "https://hook.test"
		}
		c = c.WithDefaults()
		err := c.Validate()
		if field == "" && err != nil || field != "" && (err == nil || !strings.Contains(err.Error(), field)) {
			t.Errorf("%s with %+v: %v; want %q", kind, m, err, field)
		}
	}
	f(KindEmail, Monthly{}, "")
	f(KindEmail, Monthly{Day: 28, Group: "billing", Owner: "ann", Tag: "money"}, "")
	f(KindEmail, Monthly{Day: 29}, "month_report.day")
	f(KindEmail, Monthly{Day: -1}, "month_report.day")
	f(KindEmail, Monthly{Group: "A b"}, "month_report.group")
	f(KindEmail, Monthly{Owner: strings.Repeat("x", MaxText+1)}, "month_report.owner")
	f(KindWebhook, Monthly{}, "month_report")
}
