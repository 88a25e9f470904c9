package cron_test

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job/cron"
)

func ExampleExpr_Next() {
	e, err := cron.Parse("30 2 * * *", 0) // every night at half past two
	if err != nil {
		fmt.Println(err)
		return
	}
	zone, err := cron.LoadZone("Europe/Paris")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Clocks are put forward from two to three on 29 March: the job runs at three.
	t := time.Date(2026, time.March, 27, 12, 0, 0, 0, time.UTC)
	for range 3 {
		t, _ = e.Next(t, zone, cron.DefaultPolicy)
		fmt.Println(t.In(zone.Location()).Format(time.RFC3339))
	}
	// Output:
	// 2026-03-28T02:30:00+01:00
	// 2026-03-29T03:00:00+02:00
	// 2026-03-30T02:30:00+02:00
}

func ExampleParse_error() {
	_, err := cron.Parse("0 25 * * *", 0)
	fmt.Println(err)
	// Output: hour "25" must be a number from 0 to 23
}
