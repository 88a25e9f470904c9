// Package access decides who may do what through the HTTP API, and what they see of the answer. It
// knows no HTTP.
//
// [Permits] is the table: what each operation of the contract needs, and of which executor group.
// Who asks is the [Caller] in the context of a request. Lists leave out what the caller does not
// see, by [VisibleStore]. Documents have [Hidden] in place of what the caller has no grant for, and
// [Restored] puts back what is stored where such a document is sent.
package access
