// Package packaged tries a release as those who download it do: its archive, its packages for
// Debian and for RPM, the server's image, the images of deploy/Dockerfile, deploy/compose, and the
// upgrade of an older version.
//
// It is all tests. They work on the folder that CARILLON_RELEASED names, which
// "task release -- -snapshot" has built, and each says in one line what it leaves out where that
// folder or a program is missing. "task release:try" runs them with both. Most need root and podman:
// images have a storage, and containers a bridge, of this run's own, which are gone after it. Nothing
// is pulled: the images of others are made here of a Debian folder of debootstrap, this machine's Go,
// the NATS server of go.mod and the ClickHouse of internal/clickhoused.
//
// A container is a process of podman in the foreground (processtest), so it is started again,
// killed and read like any other program.
package packaged
