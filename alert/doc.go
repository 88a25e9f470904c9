// Package alert tells people about runs that went wrong, and about what keeps runs from
// going right.
//
// A [alerting.Rule] says what is worth a message, for which jobs, and on which channels. A [alerting.Channel]
// is a way to people: e-mail, a webhook, a chat, PagerDuty. What a rule has found is an
// [alerting.Incident]: it opens with the first bad run, takes in those that follow, and is resolved
// by a good one, when a person says so, or when its rule is gone. People get a message when
// it opens, as often after that as the rule's repeat asks for, and when it is resolved.
// Each message to one channel is a [alerting.Delivery] and part of the incident.
//
// # Where it reads
//
// What executors say is on the stream EVT. What the shards' owners decide by themselves,
// such as that a run was missed or that its last attempt was the last, is in their records,
// which are for one reader; so each batch with a final outcome has a notice besides, in the
// same commit, which stays on TRIG until an alerter has read it. An attempt after which
// another follows is no end, so alarm comes after the last.
//
// # What it promises
//
// One alerter works in a cluster at a time, elected by a lease. It keeps its position on
// EVT and what it knows of jobs in the bucket ALERT, and writes the first no earlier than
// the second: the next one reads again what may not have had its effect. An incident has
// one key, so that of two alerters one is refused, and remembers the last message that it
// has taken in, so that one which is read twice counts once. As long as EVT keeps messages,
// 72 hours, nothing is missed while no alerter runs.
//
// A delivery is claimed, sent, and recorded, each by compare-and-set. A node that dies in
// between leaves a claim, and its successor sends again, under the same key, by which
// PagerDuty and a webhook (Idempotency-Key) drop a repeat: at least once, and exactly once
// where the other side can tell. Nobody sends without the lease.
//
// # Where requests go
//
// Addresses that are not public are refused unless [Config.Allow] has them; package
// outbound says how. Redirects are not followed.
package alert
