// Package backfill has the document of a backfill of many jobs, and decides how it goes on.
//
//	waiting ──▶ working ──▶ done
//	   ▲           │  └───▶ refused    its fires could not be run at all
//	   │           ▼
//	   └──────  stopping ──▶ cancelled
//
// Each job of it is a [Part]. While it works, a backfill of that job alone runs its fires, under the id of
// [Bulk.RoundID]. A pause stops that; when the runs that have begun have ended, the part waits again, in its next
// round. So do parts with failed runs when these are to run again. Every run that a round makes has an id that
// follows from the round's, so what earlier rounds have run is known.
//
// All methods of [Bulk] decide by the document and the time that they are given. Package ledger/backfills carries it
// out.
package backfill
