// Package manifest has the commands that save documents: apply, and the imports from crontabs,
// calendars and XXL-JOB. A plan says what would change before anything does.
package manifest
