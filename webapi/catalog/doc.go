// Package catalog is what the server knows of jobs, and the acts that change them. It knows no HTTP.
//
// # Read model
//
// An index has the present version of every job in memory. A watch keeps it up to date, and writes
// of this server are in it before their answer. [Catalog.Find], [Catalog.Facets], [Catalog.Fires],
// [Catalog.CountFires] and [Catalog.SuggestOffsets] answer from it: with a search, conditions and an
// order, all of what the caller sees. How jobs did in the last week is read from the log store now and
// then.
//
// # Acts
//
// [Catalog.Save], [Catalog.Delete], [Catalog.SetPaused], [Catalog.Skip] and [Catalog.EditAbout]
// hold the rules of a change: the canonical form, what the caller may change, whether the handler
// takes the parameters, that children form no cycle, on what condition the version is replaced, and
// what the audit log says. All that changes jobs calls these: single requests, imports and bulk
// changes.
package catalog
