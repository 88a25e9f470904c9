// Package admin is what executors of XXL-JOB take for their admin: it serves what they call over HTTP,
// on /api and on /xxl-job-admin/api, in all dialects.
//
// It trusts no caller. A call without the token of a group is refused, bodies are bounded, and requests
// of an address are limited. Answers have HTTP status 200, and an error is in their code, as executors
// expect. Only a caller that asks too often gets status 429.
package admin
