// Package workflow holds the rules of graphs of steps: what a graph may look like, when a step may
// run, when it is skipped and why, and how the whole ends.
//
// It knows no jobs, tasks, runs or clocks. A [Graph] is made of the [Step]s of a document by [New],
// which refuses cycles and steps that can never be decided. What a step is doing is a [State].
// [Graph.Decide] answers what the states of its sources mean for one step, and [Graph.Settle] carries
// the answers on until nothing is left to decide. Both are functions of the states alone, and the
// states at the end are the same in whatever order the steps have ended: a step whose join can be met
// before all of its sources have ended may not look at one that has not.
//
// # Words
//
// A step's sources are the steps that it comes after. An [Edge] leads from a source to it, and is met
// or unmet once the source is final, by its [On]. The step's [Join] says how many edges have to be
// met. Ancestors are sources, their sources, and so on. A finally step runs after all others are
// final, whatever became of them.
package workflow
