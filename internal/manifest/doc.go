// Package manifest reads the files in which people write jobs and calendars.
//
// A file holds any number of documents, in YAML (divided by "---") or in JSON (one
// after the other). A document becomes the JSON that the API takes; what its fields
// mean is left to the server, which may be newer than the client. What is kept
// beside the JSON is the line of every field, so that a problem found far away is
// told as file:line.
//
// Nothing here is executed or fetched: aliases and merge keys are expanded within
// bounds, tags other than the plain ones are refused.
package manifest
