package runlog

// Amount is some of a store's history. Bytes are those on disk.
type Amount struct {
	Runs  int64 `json:"runs"` // attempts, each as a whole
	Lines int64 `json:"lines"`
	Bytes int64 `json:"bytes"`
}

// Effect says what a retention does to a store. Its figures are estimates.
type Effect struct {
	Now   Amount `json:"now"`   // what is there
	Frees Amount `json:"frees"` // what the next trim would delete
	// Expected is what there is in the long run, if each day brings as much as the days
	// of the last week did.
	Expected Amount `json:"expected"`
}
