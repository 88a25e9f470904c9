// Package database is the database in ClickHouse of a log store: the address that names it,
// how its tables are spread over servers, the migrations that make them, the words of their
// enums, and what the errors of a server mean.
//
// Migrations are numbered templates, for one server or for a cluster of replicas and
// shards. Each is recorded with its checksum, and may be begun again at any point.
package database
