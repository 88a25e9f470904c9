// Package client runs jobs from the code of an application, by the HTTP API. It needs the standard library
// only.
//
//	go get github.com/carillon-scheduler/carillon/client
//
//	c, err := client.FromEnvironment()
//	run, err := c.Run(ctx, "mail/welcome", Welcome{User: 42}, client.In(24*time.Hour), client.Expires(time.Hour))
//	end, err := run.Wait(ctx)
//	err = end.Decode(&sent)
//
// # Guarantees
//
//   - A call of [Client.Run] makes one run. It sends a random run_id and repeats the request with it, for 30 s,
//     while servers are away or the connection breaks; servers remember a run_id for five minutes. Two calls
//     make two runs, unless they have the same [Key].
//   - A call of [Client.RunMany] makes one run for each request, likewise.
//   - An error that is an [ErrUnavailable] leaves open whether there is a run. After every other [Error] there
//     is none.
//   - A clock that is wrong does no harm: if a server refuses the time in a run_id, the client takes the time
//     of the server.
//   - A redirect is not followed, so that the token goes to no other server.
//
// # Tests
//
// Package clienttest has a client that keeps runs in memory. The cases in testdata/cases.json are those of the
// clients in all languages.
package client
