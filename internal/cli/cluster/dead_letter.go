package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newDeadLetterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead-letter",
		Short: "Replay or delete refused messages",
		Long: "The history refuses messages from executors and servers that are forged, damaged or from a newer\n" +
			"version. It keeps them for two weeks, with the reason. Replay them after an upgrade. List them\n" +
			"with \"carillon get dead-letters\".",
		Example: "  carillon get dead-letters\n  carillon get dead-letters 17\n  carillon dead-letter replay --all",
	}
	cmd.AddCommand(
		newDeadLetterEachCommand("replay", "Replay refused messages, for example after an upgrade",
			"A message that is refused again becomes a new dead letter. Incomplete messages are not replayed,\n"+
				"nor are those about a run with newer information; --all skips them.",
			func(ctx context.Context, api *client.API, seq uint64) (*http.Response, error) {
				return api.ReplayDeadLetter(ctx, seq)
			}),
		newDeadLetterEachCommand("delete", "Delete refused messages", "",
			func(ctx context.Context, api *client.API, seq uint64) (*http.Response, error) {
				return api.DeleteDeadLetter(ctx, seq)
			}))
	return cmd
}

func newGetDeadLettersCommand() *cobra.Command {
	var limit int
	return cli.List[client.DeadLetterPage]{
		Use: "dead-letters", Aliases: []string{"dead-letter"}, Short: "List refused messages with their reasons, newest first, or show one",
		Example: "  carillon get dead-letters\n  carillon get dead-letters 17\n  carillon get dead-letters --limit 0 -o json",
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&limit, "limit", 50, "maximum number to show; 0 shows all")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.DeadLetterPage, error) {
			return api.DeadLetters(ctx, limit)
		},
		Columns: drawDeadLetters,
		One: cli.Named("LETTER", func(ctx context.Context, api *client.API, number string) (none client.DeadLetterContent, err error) {
			seq, err := letterNumber(number)
			if err != nil {
				return none, err
			}
			return client.Read[client.DeadLetterContent](api.GetDeadLetter(ctx, seq))
		}, drawDeadLetter),
	}.Command()
}

func drawDeadLetters(t *draw.Table, page client.DeadLetterPage) {
	if len(page.Items) == 0 {
		t.Line("no dead letters")
		return
	}
	t.Row("LETTER", "REFUSED", "STREAM", "SUBJECT", "MESSAGE", "SIZE", "REASON")
	for _, l := range page.Items {
		t.Row(strconv.FormatUint(l.Sequence, 10), t.Instant(l.At), l.Stream, t.Cell(l.Subject, 40), t.Cell(l.Message, 20), draw.Bytes(int64(l.Size)), t.Cell(l.Reason, 100))
	}
	if page.Next != "" {
		t.Line(fmt.Sprintf("%d of %d; show more with --limit", len(page.Items), page.Total))
	}
}

func drawDeadLetter(t *draw.Table, l client.DeadLetterContent) {
	t.Row("refused", t.Instant(l.At))
	t.Row("stream", l.Stream)
	t.Row("subject", t.Cell(l.Subject, 200))
	t.Row("message", t.Cell(l.Message, 200))
	t.Row("reason", t.Cell(l.Reason, 1000))
	t.Row("size", draw.Bytes(int64(l.Size)))
	t.Line("")
	t.Line(t.Cell(l.Text, len(l.Text)))
	if !l.Whole {
		t.Line("Only the beginning was kept.")
	}
}

// newDeadLetterEachCommand returns the command that does something to letters, each by itself.
func newDeadLetterEachCommand(verb, short, long string, do func(context.Context, *client.API, uint64) (*http.Response, error)) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: verb + " LETTER... | --all", Short: short, Long: long,
		Example: "  carillon dead-letter " + verb + " 17 18\n  carillon dead-letter " + verb + " --all",
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all present dead letters")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all == (len(args) > 0) {
			return cli.Usage(errors.New("name dead letters by number, or use --all"))
		}
		var letters []uint64
		for _, arg := range args {
			seq, err := letterNumber(arg)
			if err != nil {
				return err
			}
			letters = append(letters, seq)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if all {
			page, err := api.DeadLetters(cmd.Context(), 0)
			if err != nil {
				return err
			}
			for _, l := range page.Items {
				letters = append(letters, l.Sequence)
			}
		}
		done := 0
		for _, seq := range letters {
			_, err := client.Read[client.None](do(cmd.Context(), api, seq))
			var said *client.Problem
			switch {
			case err == nil:
				done++
			case all && errors.As(err, &said) && said.Code == "conflict":
				cmd.PrintErrln(said)
			default:
				return err
			}
		}
		cmd.Printf("%d of %d\n", done, len(letters))
		return nil
	}
	return cmd
}

func letterNumber(arg string) (uint64, error) {
	seq, err := strconv.ParseUint(arg, 10, 64)
	if err != nil || seq == 0 {
		return 0, cli.Usage(fmt.Errorf("%q must be the number of a dead letter, as \"carillon get dead-letters\" shows it", arg))
	}
	return seq, nil
}
