package main

import "testing"

func TestOnlyAFailureOfTheDetectorIsTestedAgain(t *testing.T) {
	const crash = "ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346 \"((exiting)) != (0)\" (0x0, 0x0) (tid=1)\n"
	tests := []struct {
		name, output string
		want         bool
	}{
		{"all passed", "ok  \ta\t1s\nok  \tb\t1s\n", false},
		{"the detector failed", "ok  \ta\t1s\n" + crash + "FAIL\tb\t9s\nok  \tc\t1s\nFAIL\n", true},
		{"the detector used a bad address", "SIGSEGV: segmentation violation\nPC=0x41cb49 m=0 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x3190ac0 m=0 mp=0x3192700 [idle]:\nFAIL\tb\t9s\nFAIL\n", true},
		{"a test used one", "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4d2ca1]\nFAIL\tb\t9s\nFAIL\n", false},
		{"a test failed", "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\ta\t1s\nFAIL\n", false},
		{"a test failed before the detector did", "--- FAIL: TestX (0.00s)\n" + crash + "FAIL\ta\t1s\nFAIL\n", false},
		{"another package failed", crash + "FAIL\ta\t9s\n    --- FAIL: TestX/y (0.00s)\nFAIL\nFAIL\tb\t1s\nFAIL\n", false},
		{"a data race", "WARNING: DATA RACE\n" + crash + "FAIL\ta\t9s\nFAIL\n", false},
		{"a panic", crash + "panic: x\nFAIL\ta\t9s\nFAIL\n", false},
		{"a package that does not build", crash + "FAIL\ta\t9s\nFAIL\tb [build failed]\nFAIL\n", false},
	}
	for _, test := range tests {
		if got := onlyDetectorFailed([]byte(test.output)); got != test.want {
			t.Errorf("%s: tested again %v, want %v", test.name, got, test.want)
		}
	}
}
