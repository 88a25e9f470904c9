// Package transfer copies a history from one log store to another.
//
// It goes from the oldest day to the newest, in UTC. It turns the runs of a day back into the updates
// that the bus has said of them, and writes these: a store is the merge of such updates, so the copy
// of a run is equal to it. Of some pages of runs, the lines come first. So a run that the target has, has
// its lines there.
//
// To continue an interrupted copy, repeat it: it leaves out the days for which the target has as
// many runs in each status, and writes the next day as a repeat.
//
// It leaves behind the reports of runs that are gone, and lines of runs that are gone: both follow
// from nothing that a store tells.
package transfer
