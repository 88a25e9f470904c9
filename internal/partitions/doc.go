// Package partitions is a model, and no code of the program. Its test tries out, in all orders of
// events, the protocol by which the end of a parent reaches a child in another partition. ADR 46
// describes it; packages scheduler and scheduler/shard do it.
package partitions
