// Package database is the database in ClickHouse of a log store: the address that names it,
// how its tables are spread over servers, the schema that makes them, the words of their
// enums, and what the errors of a server mean.
//
// The schema is a template, for one server or for a cluster of replicas and shards. It is
// recorded with its checksum, and may be begun again at any point.
package database
