// Package schema makes JSON schemas of the types of parameters, for executor.Config.Schemas. With
// them, servers refuse jobs whose parameters a handler could not read.
package schema
