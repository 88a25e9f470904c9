// Package carillon is the root of the repository, which has tests only: of what its packages may
// import, and of its documents.
//
// docs/explanation/architecture.md shows how the packages fit together.
package carillon
