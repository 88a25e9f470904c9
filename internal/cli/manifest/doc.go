// Package manifest has the commands that save documents: apply, and the imports from crontabs,
// calendars and XXL-JOB. A plan says what would change before anything does. Export writes the
// documents that apply reads.
package manifest
