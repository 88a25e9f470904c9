// Package seal keeps secrets: it encrypts them for the executors of one group.
//
// A server has a master key. From it follows, by HKDF, a key for each group, which the
// group's executors have, and from which neither the master key nor another group's
// follows. A secret is sealed with the key of its group, by AES-256-GCM, bound to the
// group's and its own name: it cannot be passed off as another. So the bus carries and
// stores nothing that it could read.
package seal
