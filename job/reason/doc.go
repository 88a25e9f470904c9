// Package reason is the one table of the sentences in which Carillon says why: why a fire did
// not run, why a run waits, how it ended without a word of its handler, why a request is refused.
// Each sentence has a code, named parameters and an English template.
//
// Who has a reason makes it from the table, [OverlapFull].With(2), and gets English text:
// "overlap limit reached: 2 runs are still alive". The text is what travels on NATS, and what
// stores keep: it can be read in SQL, and executors in any language know no other form.
//
// The HTTP API answers with [Text], whose JSON has the code and the parameters beside the text:
//
//	{"text": "overlap limit reached: ...", "code": "overlap_full", "params": {"runs": "2"}}
//
// They are found by the table, since a template can be read as well as written. Tests show for
// each sentence that both agree, and that no other sentence has its words. Text that somebody
// else wrote, as the error of a handler, has no code. Reasons are joined by [Join]: the first is
// the main one, the others follow in "and".
//
// The console has a sentence for each code in each of its languages. Their tables are
// typed by frontend/src/i18n/en/reasons.gen.ts, which is generated from this one.
//
// Packages finding and refusal add the rows that only servers and commands need.
package reason

//go:generate go test -run ^TestTheConsoleAndTheDocsHaveTheTable$ . -update
