// Package admin is what executors of XXL-JOB take for their admin: it serves what they call over HTTP,
// on /api and on /xxl-job-admin/api, in all dialects.
//
// It believes nobody: who has no token of a group is refused, bodies are bounded, and each address may
// ask so often and no more. Answers have the HTTP status 200 and say in their code what is wrong, as
// executors expect; only who asks too often gets another one.
package admin
