package job

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestWhatIsWrongWithAFireTimeIsSaidWhenTheJobIsSaved(t *testing.T) {
	f := func(document, want string) {
		t.Helper()
		_, err := Decode([]byte(`{"job": "a/b", ` + document + `}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", document, err, want)
		}
	}
	f(`"task": {"command": ["x", "${fire_time|-1d|yyyyMMdd}"], "env": {"DAY": "${fire_time|day}"}, "stdin": "${fire_time}"}`, "")
	f(`"task": {"http": {"url": "http://x/${fire_time|epoch}", "body": "$${fire_time|x} ${params.a}", "method": "POST"}}`, "")
	f(`"task": {"handler": "h"}, "params": {"day": ["${fire_time|-1d|yyyyMMdd}"]}`, "")
	f(`"task": {"shell": "echo ${fire_time|nonsense}"}`, "") // is the shell's
	f(`"task": {"command": ["x", "${fire_time|-1x}"]}`, `task.command[1] has ${fire_time|-1x}, whose "-1x" must be an offset`)
	f(`"task": {"command": ["x", "${fire_time|-100000000h}"]}`, `task.command[1] has ${fire_time|-100000000h}, whose "-100000000h" must be an offset`)
	f(`"task": {"command": ["x"], "env": {"DAY": "${fire_time|YYYY}"}}`, `task.env.DAY has`)
	f(`"task": {"command": ["x", "${fire_time|yyyy|-1d}"]}`, `whose format "yyyy" must be the last step`)
	f(`"task": {"command": ["x", "${fire_time|"]}`, `task.command[1] has ${ without }`)
	f(`"task": {"http": {"url": "http://x/", "headers": {"A": "${fire_time|Asia/Nowhere}"}}}`, `task.http.headers["A"] has`)
	f(`"task": {"handler": "h"}, "params": {"day": "${fire_time|+999999999999d}"}`, `params has`)
}

func TestParametersKeepAllButTheFireTime(t *testing.T) {
	const params = `{"${fire_time}":1,"big":12345678901234567890,"day":"${fire_time|yyyyMMdd}","html":"<a&b>","list":["${fire_time|-1d|dd}",null,1.50]}`
	got, err := ParamsAt(json.RawMessage(params), time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC), time.UTC)
	const want = `{"${fire_time}":1,"big":12345678901234567890,"day":"20260105","html":"<a&b>","list":["04",null,1.50]}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestLiteralParametersStayAsTheyAre(t *testing.T) {
	for _, params := range []string{
		`{"a":"${fire_time}","b":["$${fire_time|-1d}","${fire_time ${fire_time|x}}","$$${fire_time"],"c":"${other}"}`, `[1]`, `null`,
	} {
		literal, err := LiteralParams(json.RawMessage(params))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParamsAt(literal, time.UnixMilli(0), time.UTC); string(got) != params || err != nil {
			t.Errorf("%s became %s, then %s, %v", params, literal, got, err)
		}
	}
}
