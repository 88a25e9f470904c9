// Package outbound sends requests to addresses that other people have chosen: in http
// tasks, and in channels for alerts.
//
// They must not reach what only this machine can: its own services, those of its
// network, a cloud's metadata. Addresses that are not public are refused unless the
// [Guard] has an exception for them. The address itself is checked, when it is dialled,
// so that neither a name that resolves to one, nor one that changes its mind, nor a
// redirect gets past. Proxies named by the environment are not used: one would dial
// instead of us, unchecked.
package outbound
