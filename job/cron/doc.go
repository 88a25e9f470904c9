// Package cron holds cron expressions and the instants at which they fire.
//
// An [Expr] is what [Parse] makes of a text; a [Zone] is where its clock hangs on
// the wall; a [Policy] says what happens on the two nights a year when that clock
// is moved. [Expr.Next] is a pure function of the three and an instant. It does
// not allocate and takes bounded time, for expressions that never fire too.
//
// # Two dialects
//
// The number of fields decides, always:
//
//	┌ minute 0-59                           5 fields: Unix cron, after Vixie
//	│ ┌ hour 0-23
//	│ │ ┌ day of month 1-31
//	│ │ │ ┌ month 1-12 or JAN-DEC
//	│ │ │ │ ┌ day of week 0-7 or SUN-SAT, 0 and 7 are Sunday
//	* * * * *
//
//	┌ second 0-59                           6 or 7 fields: Quartz 2.5
//	│ ┌ minute 0-59
//	│ │ ┌ hour 0-23
//	│ │ │ ┌ day of month 1-31, L, L-3, LW, 15W or ?
//	│ │ │ │ ┌ month 1-12 or JAN-DEC
//	│ │ │ │ │ ┌ day of week 1-7 or SUN-SAT (1 is Sunday), L, 6L, 6#3 or ?
//	│ │ │ │ │ │ ┌ year 1970-2125, optional
//	* * * ? * * *
//
// Every field takes *, a, a-b, a-b/n, */n and lists of these; Quartz takes a/n, /n
// and ranges that wrap (22-2) as well. Unix cron fires when the day of month or the
// day of week matches, if neither field starts with *; Quartz wants ? in one of them.
// What Quartz reads but does not mean (a step after a name, JANUARY, 5x) is refused.
// The macros @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly
// stand for five fields. [Macro] finds the two that are not calendars, @every and @at.
//
// # H
//
// H stands for a value that the job's seed chooses, so that a thousand jobs written
// "H 3 * * *" do not all start at three. H picks from the whole field (days of the
// month from 1-28, so that it fires in every month), H(a-b) from a range, and H/n and
// H(a-b)/n pick the phase of a step. The choice is part of the format: see [hashed].
//
// # When clocks are moved
//
// [DefaultPolicy] reads the intent from the expression. A job that fires in all 24
// hours ("every 10 minutes") follows elapsed time: nothing to make up for an hour
// that did not exist, and no pause in an hour that came twice. Any other names times
// on the wall and fires once for each: in the first pass of a repeated hour, and at
// the end of a gap if it was due inside. Several fires due in one gap become one.
//
// Fires are whole seconds from local 1970 to the end of local 2125. Zone rules come
// from the operating system's files where it has some, else from a copy inside the
// program; nodes that differ in their files agree only as far as the files do.
package cron
