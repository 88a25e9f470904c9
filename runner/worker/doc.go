// Package worker runs handlers in processes of any language, which it starts, and speaks lines of
// JSON with over their standard input and output. docs/reference/worker-processes.md is the
// protocol.
//
//	workers, err := worker.Start(ctx, worker.Config{Command: []string{"php", "worker.php"}})
//	…
//	defer workers.Close()
//	workers.Register(e)
//
// [Start] waits until each process has registered its handlers. A run goes to the process with the
// most free places, and waits while there is none. A process that ends fails its runs and is
// restarted, after a pause that doubles up to half a minute.
//
//	starting ──register──▶ up ──ends, or is killed──▶ pause ──▶ starting
//
// A run that is cancelled has [Config.KillAfter] to answer. Then its process is killed, with its
// process group, and the other runs in it fail. So nothing that a process does, or does not do,
// holds a run for longer than its timeout and that.
package worker
