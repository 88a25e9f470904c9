// Package selection has the flags that select jobs or runs, and changes all that are selected:
// by name, or by a filter that a person has said yes to.
package selection
