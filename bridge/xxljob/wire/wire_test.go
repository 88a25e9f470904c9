package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestCallbacksAreReadInEveryDialect(t *testing.T) {
	f := func(body string, want ...Callback) {
		t.Helper()
		got, wrong, err := ReadCallbacks([]byte(body))
		if err != nil || wrong != nil {
			t.Fatalf("%s: %v, %v", body, err, wrong)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", body, d)
		}
	}
	f(`[{"logId":123,"logDateTim":1781913600000,"handleCode":200,"handleMsg":null}]`, Callback{LogID: 123, Code: 200})
	f(`[{"logId":123,"logDateTim":0,"executeResult":{"code":500,"msg":"磁盘已满"}}]`, Callback{LogID: 123, Code: 500, Msg: "磁盘已满", Old: true})
	f(`{"callbackList":[{"logId":9,"logDateTime":1,"handleCode":502,"handleMsg":"slow"}]}`, Callback{LogID: 9, Code: 502, Msg: "slow"})
	// The Go client sends both forms.
	f(`[{"logId":1,"handleCode":200,"handleMsg":"a","executeResult":{"code":500,"msg":"b"}}]`, Callback{LogID: 1, Code: 200, Msg: "a"})
	// Types are read as Gson reads them.
	f(`[{"logId":"7","handleCode":"200","handleMsg":42}]`, Callback{LogID: 7, Code: 200, Msg: "42"})
	f(`[{"logId":7.0,"handleCode":200.0,"handleMsg":true},{"logId":"8.0","handleCode":"500","handleMsg":false}]`, Callback{LogID: 7, Code: 200, Msg: "true"}, Callback{LogID: 8, Code: 500, Msg: "false"})
	f(`[{"logId":9007199254740993,"handleCode":200,"handleMsg":1.50}]`, Callback{LogID: 9007199254740993, Code: 200, Msg: "1.50"})
	f(`[{"logId":7,"handleCode":null,"handleMsg":null,"executeResult":{"code":"502","msg":3}}]`, Callback{LogID: 7, Code: 502, Msg: "3", Old: true})
	f(`{"callbackList":[{"logId":"9","handleCode":200,"handleMsg":{"rows":3}}]}`, Callback{LogID: 9, Code: 200, Msg: `{"rows":3}`})
}

func TestACallbackThatCannotBeReadKeepsNoOtherFromBeingRead(t *testing.T) {
	for _, bad := range []string{`null`, `1`, `"x"`, `[]`, `{}`, `{"logId":"x"}`, `{"logId":7.5}`, `{"logId":true}`, `{"logId":1,"handleCode":"ok"}`, `{"logId":1,"handleCode":3000000000}`} {
		got, wrong, err := ReadCallbacks([]byte(`[{"logId":1,"handleCode":200},` + bad + `,{"logId":2,"handleCode":500}]`))
		if err != nil || !errors.Is(wrong, job.ErrInvalid) || !strings.Contains(wrong.Error(), "callback 2 of 3") {
			t.Errorf("%s: %v, %v", bad, wrong, err)
		}
		if d := cmp.Diff([]Callback{{LogID: 1, Code: 200}, {LogID: 2, Code: 500}}, got); d != "" {
			t.Errorf("%s: %s", bad, d)
		}
	}
}

func TestEveryMessageIsReadAsGsonReadsIt(t *testing.T) {
	r, err := ReadRegistration([]byte(`{"registryGroup":"EXECUTOR","registryKey":2024,"registryValue":"http://h:1"}`))
	if d := cmp.Diff(Registration{Group: "EXECUTOR", AppName: "2024", Address: "http://h:1"}, r); d != "" || err != nil {
		t.Error(d, err)
	}
	a, err := ReadAnswer([]byte(`{"code":"200","msg":1}`))
	if d := cmp.Diff(Answer{Code: 200, Msg: "1"}, a); d != "" || err != nil {
		t.Error(d, err)
	}
	l, err := ReadLog([]byte(`{"code":200.0,"content":{"fromLineNum":"1","toLineNum":"2","logContent":7,"isEnd":"true"}}`), 1)
	if d := cmp.Diff(Log{Lines: []string{"7"}, Next: 3, End: true, Dialect: DialectA}, l); d != "" || err != nil {
		t.Error(d, err)
	}
	i, err := ReadJobInfo([]byte(`{"id":"3","name":1,"scheduleType":"NONE","glueType":"BEAN","executorHandler":"h","executorParam":true,"executorTimeout":"60","executorFailRetryCount":2.0,"author":null}`), true)
	if d := cmp.Diff(JobInfo{ID: 3, Name: "1", ScheduleType: "NONE", Glue: "BEAN", Handler: "h", Params: "true", TimeoutSeconds: 60, Retries: 2}, i); d != "" || err != nil {
		t.Error(d, err)
	}
	c, err := ReadJobCommand([]byte(`{"id":"3","executorParam":5,"addressList":null}`))
	five := "5"
	if d := cmp.Diff(JobCommand{ID: 3, Params: &five}, c); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestCallbacksThatAreNoneAreRefused(t *testing.T) {
	for _, body := range []string{``, `{`, `"x"`, `null`, `{}`, `{"registryGroup":5}`, `{"callbackList":null}`, `[null]`, `[{}]`, `[{"logId":"x"}]`, `[1]`, `[{"logId":1e30}]`, "[" + strings.Repeat(`{"logId":1},`, maxCallbacks) + `{"logId":1}]`} {
		if got, _, err := ReadCallbacks([]byte(body)); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%.40q is read as %v, %v", body, got, err)
		}
	}
}

func TestRegistrationsNeedAnAddressThatCanBeCalled(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"registryGroup": "EXECUTOR", "registryKey": "app", "registryValue": address})
		if err != nil {
			t.Fatal(err)
		}
		r, err := ReadRegistration(body)
		if (err == nil) != (want != "") || err == nil && r.Address != want {
			t.Errorf("%q is %q, %v; want %q", address, r.Address, err, want)
		}
	}
	f("http://10.0.0.5:9999/", "http://10.0.0.5:9999")
	f("HTTP://Host:9999", "http://host:9999")
	f("https://host/path/", "https://host/path")
	for _, wrong := range []string{"", "10.0.0.5:9999", "ftp://h:1", "http://", "http://u:p@h:1", "http://h:1/?x=1", "http://h:1/#f", "http://[::1", "http://" + strings.Repeat("h", 300)} {
		f(wrong, "")
	}
	f("http://my_service.ns-1:80/xxl-job/v2.0/~a", "http://my_service.ns-1:80/xxl-job/v2.0/~a")
	f("http://[FD00::1]:9999", "http://[fd00::1]:9999")
	f("http://h:1//", "http://h:1")
	for _, wrong := range []string{
		"http://h:1/../../x", "http://h:1/a/..", "http://h:1/./x", "http://h:1/%2e%2e/x", "http://h:1/a%2F..%2Fx", "http://h:1/<script>", "http://h:1/%3Cscript%3E",
		"http://h:1/a//b", `http://h:1/a\..\b`, "http://h:1/a b", "http://h:1/a;b", "http://h:1/a'b", "http://h:1/\"x", "http://h:1/\u4efb", "http://h:1/a\x00",
		"http://<script>:1", `http://h"x:1`, "http://h'x:1", "http://a,b:1", "http://h*:1", "http://-h:1", "http://\u4efb\u52a1:1", "http://h%0a:1",
		"http://[fe80::1%25eth0]:1", "http://[fe80::1%25<b>]:1", "http://h:0", "http://h:65536", "http://h:99999999999999999999",
	} {
		f(wrong, "")
	}
}

func TestAnswersAreReadWhateverTheirForm(t *testing.T) {
	f := func(body string, want Answer) {
		t.Helper()
		got, err := ReadAnswer([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", body, d)
		}
	}
	f(`{"code":200}`, Answer{Code: 200})
	f(`{"code":200,"msg":null,"content":"x"}`, Answer{Code: 200, Payload: json.RawMessage(`"x"`)})
	f(`{"code":200,"msg":"Success","data":{"a":1},"success":true}`, Answer{Code: 200, Msg: "Success", Payload: json.RawMessage(`{"a":1}`)})
	f(`[{"logId":1,"handleCode":500,"handleMsg":"Task not registered"}]`, Answer{Code: 500, Msg: "Task not registered"})
	f(string(Answer{Code: 200, Payload: json.RawMessage(`"7"`)}.Encode()), Answer{Code: 200, Payload: json.RawMessage(`"7"`)})
	for _, wrong := range []string{``, `<html>`, `{}`, `{"code":"x"}`, `[]`, `[{}]`, `null`} {
		if a, err := ReadAnswer([]byte(wrong)); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q is read as %v, %v", wrong, a, err)
		}
	}
}

func TestALogIsReadFromALineOn(t *testing.T) {
	f := func(body string, from int, want Log) {
		t.Helper()
		got, err := ReadLog([]byte(body), from)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", body, d)
		}
	}
	f(`{"code":200,"content":{"fromLineNum":1,"toLineNum":2,"logContent":"a\nb\n","isEnd":false}}`, 1, Log{Lines: []string{"a", "b"}, Next: 3, Dialect: DialectA})
	f(`{"code":200,"data":{"fromLineNum":3,"toLineNum":2,"logContent":"","isEnd":false}}`, 3, Log{Next: 3, Dialect: DialectB})
	f(`{"code":200,"content":{"fromLineNum":1,"toLineNum":0,"logContent":"readLog fail, logFile not exists","isEnd":true}}`, 1, Log{Next: 1, Missing: true, End: true, Dialect: DialectA})
	f(`{"code":200,"content":{"fromLineNum":1,"toLineNum":1,"logContent":"a\nb\nc"}}`, 1, Log{Lines: []string{"a b c"}, Next: 2, Dialect: DialectA})
}

func TestARunHasEachField(t *testing.T) {
	at := time.UnixMilli(1781913600012)
	got := string(Run{JobID: 1, Handler: "demo", Timeout: 1500 * time.Millisecond, LogID: 123, LogTime: at, Glue: Bean, Updated: at}.Encode())
	want := `{"jobId":1,"executorHandler":"demo","executorParams":"","executorBlockStrategy":"SERIAL_EXECUTION","executorTimeout":2,"logId":123,` +
		`"logDateTime":1781913600012,"glueType":"BEAN","glueSource":"","glueUpdatetime":1781913600012,"broadcastIndex":0,"broadcastTotal":1}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzReadCallbacks(f *testing.F) {
	f.Add([]byte(`[{"logId":123,"handleCode":200}]`))
	f.Add([]byte(`{"callbackList":[{"logId":1,"executeResult":{"code":500,"msg":"x"}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if list, _, err := ReadCallbacks(body); err != nil && !errors.Is(err, job.ErrInvalid) || len(list) > maxCallbacks {
			t.Errorf("%d callbacks, %v", len(list), err)
		}
	})
}

func FuzzReadRegistration(f *testing.F) {
	f.Add([]byte(`{"registryGroup":"EXECUTOR","registryKey":"app","registryValue":"http://10.0.0.5:9999/"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ReadRegistration(body)
		if err != nil {
			if !errors.Is(err, job.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		if again, err := CleanAddress(r.Address); err != nil || again != r.Address {
			t.Errorf("%q becomes %q, %v", r.Address, again, err)
		}
	})
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"code":200,"msg":"Success","data":{"toLineNum":1,"logContent":"a"}}`), 1)
	f.Add([]byte(`[{"logId":1,"handleCode":500}]`), 3)
	f.Fuzz(func(t *testing.T, body []byte, from int) {
		if _, err := ReadAnswer(body); err != nil && !errors.Is(err, job.ErrInvalid) {
			t.Error(err)
		}
		from = min(max(from, 1), 1<<30)
		l, err := ReadLog(body, from)
		if err == nil && (l.Next < from || len(l.Lines) > l.Next-from) {
			t.Errorf("from %d: %d lines, next %d", from, len(l.Lines), l.Next)
		}
	})
}

func FuzzReadJobInfo(f *testing.F) {
	f.Add([]byte(`{"id":3,"name":"x","author":"ann","scheduleType":"CRON","scheduleConf":"0 0 3 * * ?","executorHandler":"demo"}`), true)
	f.Add([]byte(`{"name":"x","scheduleType":"NONE","executorTimeout":-1,"glueType":"BEAN"}`), false)
	f.Fuzz(func(t *testing.T, body []byte, known bool) {
		info, err := ReadJobInfo(body, known)
		if err != nil {
			if !errors.Is(err, job.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		if known && info.ID <= 0 {
			t.Errorf("id %d", info.ID)
		}
		info.Columns()
	})
}

func FuzzReadJobCommand(f *testing.F) {
	f.Add([]byte(`{"id":3,"executorParam":"a"}`))
	f.Add([]byte(`3`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := ReadJobCommand(body)
		if err != nil && !errors.Is(err, job.ErrInvalid) || err == nil && c.ID <= 0 {
			t.Errorf("id %d, %v", c.ID, err)
		}
	})
}
