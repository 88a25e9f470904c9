// Package standin answers for a log store that is away.
//
// A [Store] asks the store that keeps the history every few seconds whether it is there.
// Once that has failed for a while, it opens another one, which is empty, and fills it with
// what the streams still have: what nobody could move into the history, the hour before,
// and the runs that are alive. From then on that one answers, and goes on hearing of
// what happens, until the history is back and has caught up.
//
//	history answers ──▶ it is asked; AsOf if it is behind
//	silent for 15 s ──▶ the streams are read into a stand-in
//	that is read    ──▶ the stand-in is asked; Since and AsOf
//	history is back, and has what waited ──▶ the stand-in is thrown away
//
// Such an answer lacks what is older, so only who has said logstore.AcceptPartial gets
// it. Writes, retention, reports, the ledger's questions and people's SQL are for the history alone.
package standin
