// Package executortest runs handlers in unit tests, without a broker.
//
//	written, end := executortest.Call(t, writeReport, params{Region: "north"}, executortest.Run{Attempt: 2})
//	if end.Status != job.StatusSucceeded || written.Rows != 42 {
//		t.Errorf("%+v, %s", written, end.Message)
//	}
//
// [Call] is for one function, as executor.Register takes it. [Do] is for a program's own
// registrations, with their middleware. Both give the handler what a real run would have (its
// parameters, attempt, piece, secrets, timeout), and return what it logged, how far it said it
// was, and how it ended.
package executortest
