// Package elsewhere has the command that runs the commands of other schedulers, and reports them.
package elsewhere
