// Package contract checks requests against openapi.yaml before a handler sees them, and shows it
// as a page to read.
//
// [Contract.Checked] puts the check in front of each route. Its errors name the field and say what
// is wrong in our own words (reasons.go), whatever the checker calls it.
package contract
