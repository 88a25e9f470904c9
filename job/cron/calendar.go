package cron

// The Gregorian calendar in integers, for days from 1970 on.

const (
	daySeconds = 24 * 60 * 60

	// maxLocal is the last second of maxYear on a clock without a zone.
	maxLocal = 56_978*daySeconds - 1

	daysPer400Years = 146_097
	daysToEpoch     = 719_468 // from 0000-03-01, the era's first day, to 1970-01-01
)

// civil returns the date of the day that is the given number of days, not negative,
// after 1970-01-01. Years begin in March here, which puts leap days last
// (Howard Hinnant, "chrono-compatible low-level date algorithms").
func civil(days int) (year, month, day int) {
	days += daysToEpoch
	era := days / daysPer400Years
	dayOfEra := days - era*daysPer400Years
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*dayOfYear + 2) / 153
	year, month, day = era*400+yearOfEra, m+3, dayOfYear-(153*m+2)/5+1
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// daysSinceEpoch is the inverse of civil.
func daysSinceEpoch(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*daysPer400Years + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - daysToEpoch
}

// weekdayOfFirst returns the weekday of a month's first day; Sunday is 0.
func weekdayOfFirst(year, month int) int {
	return (daysSinceEpoch(year, month, 1) + 4) % 7 // the epoch was a Thursday
}

// monthLength returns the number of days of a month.
func monthLength(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// nearestWorkday returns the day from Monday to Friday that is nearest to the given
// day without leaving its month, which has the given length and first weekday.
func nearestWorkday(day, length, weekday int) int {
	switch (weekday + day - 1) % 7 {
	case 6: // Saturday
		if day == 1 {
			return 3
		}
		return day - 1
	case 0: // Sunday
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}
