package bustest_test

import (
	"testing"
	"time"
	_ "time/tzdata" // Berlin, also on a machine without zones

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
)

// TestTheNightWithoutTwoOClock walks through the hours around Berlin's step from
// 02:00 to 03:00, one run a minute, against a real server.
func TestTheNightWithoutTwoOClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2026, time.March, 29, 0, 0, 0, 0, berlin)
	bustest.Run(t, midnight, func(t *testing.T) {
		js := jetStream(t, bustest.NewBroker(t).Connect("scheduler"))
		c, err := createStream(t, js).CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "executor"})
		if err != nil {
			t.Fatal(err)
		}
		runs := map[int]int{} // by the hour on the wall
		for time.Now().In(berlin).Hour() < 5 {
			if err := publish(t, js); err != nil {
				t.Fatal(err)
			}
			msg, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if err := msg.DoubleAck(t.Context()); err != nil {
				t.Fatal(err)
			}
			runs[time.Now().In(berlin).Hour()]++
			time.Sleep(time.Minute)
		}
		for hour, want := range []int{60, 60, 0, 60, 60} {
			if runs[hour] != want {
				t.Errorf("runs between %d and %d o'clock: %d, want %d", hour, hour+1, runs[hour], want)
			}
		}
	})
}
