package crontab

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

// imported reads a user's crontab into group ops.
func imported(t *testing.T, text string, change ...func(*Options)) []Line {
	t.Helper()
	o := Options{Group: "ops", Zone: "UTC", Dir: "/home/ada"}
	for _, c := range change {
		c(&o)
	}
	lines, err := Import(t.Context(), []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// one returns the last line's job.
func one(t *testing.T, text string, change ...func(*Options)) job.Job {
	t.Helper()
	lines := imported(t, text, change...)
	last := lines[len(lines)-1]
	if last.Outcome != Imported {
		t.Fatalf("%q is %s: %s", last.Text, last.Outcome, last.Note)
	}
	return last.Job
}

func system(o *Options) { o.System, o.Dir = true, "" }

func TestALineBecomesAJobThatDoesTheSame(t *testing.T) {
	text := `# m h dom mon dow command
SHELL = "/bin/bash"
PATH=/usr/local/bin:/usr/bin:/bin
GREETING='hello world'
RANDOM_DELAY=30
CRON_TZ=Europe/Berlin
MAILTO=ops@example.com

30 4 * * 1-5  /opt/report.sh --to "$GREETING"  # daily
`
	want := job.Job{
		Job:      "ops/report-4406d4",
		Schedule: job.Schedule{Cron: "30 4 * * 1-5", Zone: "Europe/Berlin", Spread: job.Duration(30 * 60e9)},
		Task: job.Task{
			Command: []string{"/bin/bash", "-c", `/opt/report.sh --to "$GREETING"  # daily`},
			Dir:     "/home/ada",
			Env:     map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "GREETING": "hello world"},
		},
	}
	if diff := cmp.Diff(want, one(t, text)); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsHoldForTheLinesBelowThem(t *testing.T) {
	lines := imported(t, "0 1 * * * a\nCRON_TZ=Asia/Tokyo\nX=1\nHOME=/srv\n0 1 * * * b\nX = 2 \nCRON_TZ=\n0 1 * * * c\n")
	jobs := map[string]job.Job{}
	for _, l := range lines {
		jobs[l.Job.Job.Short()] = l.Job
	}
	f := func(name, zone, x, dir string) {
		t.Helper()
		j := jobs[name]
		if j.Schedule.Zone != zone || j.Task.Env["X"] != x || j.Task.Dir != dir {
			t.Errorf("%s: zone %q, X %q, dir %q", name, j.Schedule.Zone, j.Task.Env["X"], j.Task.Dir)
		}
	}
	f("a", "UTC", "", "/home/ada")
	f("b", "Asia/Tokyo", "1", "/srv")
	f("c", "UTC", "2", "/srv")
}

func TestPercentSignsDivideCommandAndInput(t *testing.T) {
	f := func(text, command, stdin string) {
		t.Helper()
		j := one(t, "@daily "+text)
		if j.Task.Shell != command || j.Task.Stdin != stdin {
			t.Errorf("%s\n got %q, %q\nwant %q, %q", text, j.Task.Shell, j.Task.Stdin, command, stdin)
		}
	}
	f(`date +\%F`, `date +%F`, "")
	f(`mail -s x ops%Hello,%%bye`, `mail -s x ops`, "Hello,\n\nbye\n")
	f(`cat%one%`, `cat`, "one\n")
	f(`cat%`, `cat`, "\n")
	f(`cat%50\%%C:\dir`, `cat`, "50%\nC:\\dir\n")
	f(`printf 'a\nb' \\%x`, `printf 'a\nb' \\`, "x\n")
	f(`echo \\\%`, `echo \\%`, "")
	f(`echo x\`, `echo x\`, "")
}

func TestEachLineSaysWhatBecameOfIt(t *testing.T) {
	f := func(text string, outcome Outcome, note string, change ...func(*Options)) {
		t.Helper()
		lines := imported(t, text, change...)
		if l := lines[len(lines)-1]; l.Outcome != outcome || l.Note != note {
			t.Errorf("%q\n got %s: %s\nwant %s: %s", text, l.Outcome, l.Note, outcome, note)
		}
	}
	f("* * * * * x", Imported, "")
	f("@hourly x", Imported, "")
	f("-*/15 * * * * x", Imported, "")
	f("A=b", Setting, "")
	f("RANDOM_DELAY=5", Setting, "becomes schedule.spread: a delay that is the same each time")
	f("MAILTO=\"\"", Skipped, "nothing is mailed; what a job prints is in its run's log")
	f("@reboot x", Skipped, "a cluster does not boot; start such work with the machine's init system")
	f("@reboot 5m x", Skipped, "a cluster does not boot; start such work with the machine's init system")
	six := func(command string) string {
		return `has six fields of time, and lines of a crontab have five: cron would run "` + command + `". Remove one field; for seconds, create a job with six fields in schedule.cron`
	}
	f("0 5 * * * * x", Broken, six("* x"))
	f("*/10 * * * * * x y", Broken, six("* x y"))
	f("0 0 12 * * ? x; y", Broken, six("? x…"))
	f("0 0 12 ? * MON-FRI x", Broken, six("MON-FRI x"))
	f("0 0 12 * * mon,wed x", Broken, six("mon,wed x"))
	f("0 0 12 * * WED x", Broken, six("WED x"))
	f("0 15 10 L * ? x", Broken, six("? x"))
	f("0 15 10 ? * 6#3 x", Broken, six("6#3 x"))
	f("0 15 10 ? * 6L 2030 x", Broken, six("6L 2030 x"))
	f("0 0 12 * * 1-5", Broken, six("1-5"))
	f("0 5 * * * * root x", Broken, six("* root x"), system)
	f("0 5 * * * 7z x", Imported, "")
	f("0 5 * * * mon start", Imported, "")
	f("0 5 * * * w", Imported, "")
	const h = ": H is a value that the job's name chooses and that stays the same; cron chooses a random one each time it reads the file"
	f("1~30 * * * * x", Imported, "1~30 becomes H(1-30) * * * *"+h)
	f("~ 2~4 * * * x", Imported, "~ 2~4 becomes H H(2-4) * * *"+h)
	f("~30,~/20 22~ * * mon~fri x", Imported, "~30 ~/20 22~ mon~fri becomes H(0-30),H/20 H(22-23) * * H(mon-fri)"+h)
	f("9~70 * * * * x", Broken, `minute "9~70" must not have "~70" after "9"; must be a number from 0 to 59`)
	const anacron = "is a line of an anacrontab (period in days, delay, name, command); write a line of a crontab, such as 0 3 * * * and the command"
	f("@hourly x\n1\t5\tcron.daily\t\tnice run-parts /etc/cron.daily", Broken, anacron)
	f("@hourly x\n@monthly 45\tcron.monthly\tnice x", Broken, anacron)
	f("@600 x", Broken, `macro "@600" is of FreeBSD; it runs 600 seconds after the end of the run before: use fixed_delay: 600s`)
	f("@monthly 7z x y", Imported, "")
	f("0 3 H * * x", Imported, "")
	const flags = " are flags of OpenBSD's cron: -s becomes overlap: skip, others are left out"
	f("~ * * * * -ns x", Imported, "~ becomes H * * * *"+h+"; -ns"+flags)
	f("0 * * * * root -q x", Imported, "-q"+flags+"; runs as the executor does, not as root; runs in an empty directory, not in a home", system)
	f("@every 5m x", Imported, "fires every 5m of elapsed time, counted from 1970-01-01T00:00:00Z and not from the import or a start; to move that, use fixed_rate and anchor in a job")
	f("@every 5 x", Broken, `schedule.cron "@every 5" must give an interval of whole milliseconds between 100ms and 8784h, as in "@every 90s"`)
	f("@every 5m", Broken, "has no command")
	f("CRON_TZ=Europe/Berlin 0 3 * * * x", Broken, "a line of a crontab cannot have a time zone; write CRON_TZ=Europe/Berlin on a line of its own above it")
	f("TZ=Europe/Berlin", Setting, "is only in the environment of the jobs, as in cron; CRON_TZ sets the time zone of the lines below")
	f("0 25 * * * x", Broken, `hour "25" must be a number from 0 to 23`)
	f("0 0 30 2 * x", Broken, `schedule.cron "0 0 30 2 *" never fires: no date matches it`)
	f("@fortnightly x", Broken, `macro "@fortnightly" is not known; must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly`)
	f("0 3 * *", Broken, "has 4 of the five fields minute, hour, day of month, month and day of week, and no command")
	f("0 3 * * *", Broken, "has no command")
	f("0 3 * * * %x", Broken, "has no command before the %")
	f("CRON_TZ=Mars/Base", Broken, `"Mars/Base" is not a time zone; use an IANA name such as Europe/Berlin`)
	f("RANDOM_DELAY=soon", Broken, `"soon" must be a number of minutes from 0 to 1440`)
	f("''=x", Broken, "has no name before the =")
	f("# name: a\n@daily x\n# name: a\n@daily y", Broken, `the name "a" is used on line 2 already`)
	f("# name: A b\n@daily x", Broken, `job "ops/A b" must be GROUP/NAME, each of 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit, for example billing/nightly-report`)
	f("@daily x", Imported, "runs in an empty directory, not in a home", func(o *Options) { o.Dir = "" })
	f("@daily root x", Imported, "runs as the executor does, not as root; runs in an empty directory, not in a home", system)
	f("@daily root", Broken, "has no command after the user; is it a user's crontab?", system)
	f("0 1 * * * /opt/caf\xe9.sh", Broken, "is not UTF-8; save the file in that encoding, if the program's name is in it, too")
	f("@daily", Broken, "has no user and no command; a system crontab names a user before the command", system)
}

func TestFlagsOfOpenBSDAreNoPartOfTheCommand(t *testing.T) {
	if j := one(t, "0 * * * * -ns\tx -s"); j.Task.Shell != "x -s" || j.Overlap.Policy != job.OverlapSkip {
		t.Errorf("got %q, overlap %q", j.Task.Shell, j.Overlap.Policy)
	}
	if j := one(t, "0 * * * * -q x"); j.Task.Shell != "x" || j.Overlap.Policy == job.OverlapSkip {
		t.Errorf("got %q, overlap %q", j.Task.Shell, j.Overlap.Policy)
	}
}

func TestABrokenLineDoesNotStopTheOthers(t *testing.T) {
	lines := imported(t, "0 3 * * * a\nnonsense\n\n# c\n0 4 * * * b\r\n")
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.Number, " ", l.Outcome, " ", l.Job.Job))
	}
	if diff := cmp.Diff([]string{"1 imported ops/a", "2 broken ", "5 imported ops/b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAJobRunsInTheHomeOfItsUser(t *testing.T) {
	home := func(o *Options) {
		o.System, o.Dir = true, ""
		o.Home = func(user string) string { return "/home/" + user }
	}
	j := one(t, "0 3 * * * www-data php /srv/app/cron.php", home)
	if j.Task.Dir != "/home/www-data" || j.Task.Shell != "php /srv/app/cron.php" || j.Job != "ops/cron-83f9f3" || j.Description != "Cron ran it as www-data" {
		t.Errorf("got %+v", j)
	}
}

// hash is what a name has for the rest of a command.
var hash = regexp.MustCompile(`-[0-9a-f]{6}$`)

func TestNamesTellWhatALineDoes(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/local/bin/backup.sh --full >/dev/null 2>&1":                                             "backup",
		"cd /srv/app && php artisan schedule:run >> /dev/null 2>&1":                                   "artisan-schedule-run",
		"test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )":                 "run-parts-cron-daily",
		"[ -d /run/x ] && nice -n 10 ionice -c3 /opt/x/clean_up.py":                                   "clean_up",
		"FOO=bar BAZ='q' /bin/sh /root/Rotate Logs.sh":                                                "rotate",
		"certbot renew --quiet":                                                                       "certbot-renew",
		"tar czf /b/x.tgz /data":                                                                      "tar-czf",
		"flock -n /tmp/l timeout 30m ./sync.sh":                                                       "sync",
		"echo $(date)":                                                                                "echo",
		"bash -c 'exec /x/y.sh'":                                                                      "y",
		"python3 -m app.jobs.mail":                                                                    "app-jobs-mail",
		"[ -x /p/sessionclean ] && if [ ! -d /run/s ]; then /p/sessionclean; fi":                      "sessionclean",
		`if [ -x /m/checkarray ] && [ $(date +\%d) -le 7 ]; then /m/checkarray --cron --all; fi`:      "checkarray",
		"test -x /c/certbot -a \\! -d /run/s && perl -e 'sleep int(rand(43200))' && certbot -q renew": "certbot",
		"[ -f /x ] && { for f in a b; do /opt/send.sh $f; done; }":                                    "send",
		"php -r 'if (f()) { g(); }'":                                                                  "job",
		`[ "$(id -u)" = "0" ] && [ $(echo $(date)) ] && /opt/rotate`:                                  "rotate",
		"if ! /opt/check; then /opt/repair; fi":                                                       "check",
		"while read x; do y; done":                                                                    "read-x",
		"2>/dev/null":                                                                                 "job",
		"日本":                                                                                          "job",
		"true":                                                                                        "job",
		strings.Repeat("verylong", 20):                                                                strings.Repeat("verylong", 5),
	} {
		if got := hash.ReplaceAllString(one(t, "@daily "+command).Job.Short(), ""); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	if got := one(t, "# name: nightly\n@daily backup").Job; got != "ops/nightly" {
		t.Errorf("got %s, want the name of the comment", got)
	}
	if got := one(t, "# name: nightly\n\n@daily backup").Job; got != "ops/backup" {
		t.Errorf("got %s: a name holds for the line right below it", got)
	}
}

func TestANameDependsOnWhatALineRunsAlone(t *testing.T) {
	names := func(text string) []string {
		var all []string
		for _, l := range imported(t, text) {
			all = append(all, l.Job.Job.Short())
		}
		return all
	}
	first := names("0 1 * * * /opt/report.sh --a\n0 2 * * * /opt/report.sh --b\n0 3 * * * certbot renew\n")
	if first[0] == first[1] || first[2] != "certbot-renew" || !strings.HasPrefix(first[0], "report-") {
		t.Errorf("got %q", first)
	}
	// Lines are removed and added, and times change.
	second := names("0 9 * * * other\n5 5 * * * /opt/report.sh --b\n")
	if second[1] != first[1] {
		t.Errorf("got %q, then %q", first, second)
	}
	same := names("0 1 * * * /opt/x\n0 2 * * * /opt/x\n0 2 * * * /opt/x\n")
	if same[1] != same[0]+"-2" || same[2] != same[0]+"-3" {
		t.Errorf("got %q", same)
	}
}

func TestSystemCrontabsAreRecognised(t *testing.T) {
	f := func(file, text string, want bool) {
		t.Helper()
		if got, err := IsSystem(file, []byte(text)); got != want || err != nil {
			t.Errorf("%s %q: got %v, %v", file, text, got, err)
		}
	}
	mixed := func(text string) {
		t.Helper()
		if _, err := IsSystem("-", []byte(text)); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), "--system") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	mixed("0 1 * * * root x\n0 1 * * * /opt/backup.sh /data\n")
	mixed("0 1 * * * root x\n0 1 * * * FOO=1 backup\n")
	f("etc/crontab", "0 1 * * * x y\n", true)
	f("checkout/etc/cron.d/x", "", true)
	f("etc/crontabs", "0 1 * * * x y\n", false)
	f("x", "*/5 * * * * minecraft /srv/backup.sh\n0 4 * * * root /etc/scripts/defragment.sh\n", true)
	f("x", "0 1 * * * git gc\n0 2 * * * backup now\n", false)
	f("x", "0 1 * * * mysql /opt/x\n", true)
	f("/etc/crontab", "", true)
	f("/etc/cron.d/php", "x", true)
	f("x", "# m h dom mon dow user\tcommand\n0 1 * * * ada x\n", true)
	f("x", "# * * * * * user-name command to be executed\n", true)
	f("x", "A=b\n17 * * * * root cd / && run-parts /etc/cron.hourly\n0 1 * * * www-data x\n", true)
	f("x", "0 1 * * * root x\n0 1 * * * backup /data\n", true)
	f("x", "0 1 * * * /root/x y\n", false)
	f("x", "# m h dom mon dow command\n0 1 * * * backup /data\n", false)
	f("x", "0 5 * * * * x\n0 1 * * * root y\n", true)
	f("x", "", false)
}

func TestWhatIsNoCrontabIsRefusedAsAWhole(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", MaxFile+1), "0 1 * * * a\x00b"} {
		if _, err := Import(t.Context(), []byte(text), Options{Group: "ops"}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
	for _, o := range []Options{{}, {Group: "a.b"}, {Group: "ops", Zone: "Nowhere"}} {
		if _, err := Import(t.Context(), nil, o); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%+v: got %v", o, err)
		}
	}
}

func TestTheMarkOfAnEncodingIsNoPartOfALine(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	if j := one(t, mark+"0 3 * * * x"); j.Schedule.Cron != "0 3 * * *" {
		t.Errorf("%+v", j.Schedule)
	}
	if l := imported(t, mark+"MAILTO=ops\n0 3 * * * x")[0]; l.Outcome != Skipped {
		t.Errorf("MAILTO is %s: %s", l.Outcome, l.Note)
	}
	if is, err := IsSystem("x", []byte(mark+"0 3 * * * root x\n")); !is || err != nil {
		t.Errorf("taken for a user's crontab, %v", err)
	}
	for _, text := range []string{"\xff\xfe0\x00 \x00", "\xfe\xff\x000\x00 "} {
		if _, err := Import(t.Context(), []byte(text), Options{Group: "ops"}); err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFileOfAnotherFormatIsNamedOnce(t *testing.T) {
	f := func(text, what string) {
		t.Helper()
		if is, err := IsSystem("x", []byte(text)); is || err != nil {
			t.Errorf("%q: taken for a system crontab (%v), with %v", text, is, err)
		}
		for _, o := range []Options{{Group: "ops"}, {Group: "ops", System: true}} {
			if _, err := Import(t.Context(), []byte(text), o); err == nil || !strings.HasPrefix(err.Error(), "crontab is no crontab, but "+what) {
				t.Errorf("%q: got %v, want %s", text, err, what)
			}
		}
	}
	const jobs = "; write its schedules and commands as jobs, and use carillon apply -f FILE"
	f("apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: x\nspec:\n  schedule: \"*/5 * * * *\"\n  jobTemplate:\n    spec:\n      containers:\n      - name: root\n", "Kubernetes YAML; use carillon import kubernetes FILE")
	f("# backups\n[Unit]\nDescription=x\n\n[Timer]\nOnCalendar=*-*-* 03:00:00\nPersistent=true\n", "a systemd unit"+jobs)
	f("[Timer]\nOnCalendar=daily\n", "a systemd unit"+jobs)
	f("on:\n  schedule:\n    - cron: '30 5 * * 1,3'\njobs:\n", "a GitHub Actions workflow"+jobs)
	f("# /etc/anacrontab\nSHELL=/bin/sh\n1\t5\tcron.daily\tnice run-parts /etc/cron.daily\n@monthly 45\tcron.monthly\tnice x\n", "an anacrontab"+jobs)
	f("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n</plist>\n", "XML"+jobs)
	f("{\n  \"jobs\": []\n}\n", "JSON"+jobs)
	f("[{\"a\": 1}]", "JSON"+jobs)
	f("#!/bin/sh\nset -e\nmake all\n", "a script"+jobs)
	f("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n", "iCalendar; use carillon import calendar FILE")
	f("-- MySQL dump\nINSERT INTO `xxl_job_info` VALUES (1);\n", "SQL; use carillon import xxl-job FILE")
	f("---\njob: ops/backup\nschedule: {cron: \"0 3 * * *\"}\ntask: {shell: x}\n", "a file of Carillon jobs; use carillon apply -f FILE")
	for _, text := range []string{
		"apiVersion: v1\n0 3 * * * x\n", "[Timer]\n@reboot x\n", "#!/bin/sh\n*/5 * * * * x\n", "{\n@every 5m x\n", "not a line", "# [Unit]\n",
	} {
		if _, err := Import(t.Context(), []byte(text), Options{Group: "ops"}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add("A=b\n0 3 * * * root x%y\\%z\n", true)
	f.Add("# name: x\n@daily cd / && nice -n 5 bash -c 'x' | y\n@reboot z\n", false)
	f.Add("CRON_TZ=Asia/Tokyo\n-*/5 * * * 1-5 flock -n\n", false)
	f.Fuzz(func(t *testing.T, text string, isSystem bool) {
		_, _ = IsSystem("x", []byte(text))
		lines, err := Import(t.Context(), []byte(text), Options{Group: "ops", System: isSystem})
		if err != nil {
			return
		}
		seen := map[job.Name]bool{}
		for _, l := range lines {
			if l.Outcome != Imported {
				continue
			}
			if err := l.Job.Validate(); err != nil {
				t.Errorf("%q: %v", l.Text, err)
			}
			if seen[l.Job.Job] {
				t.Errorf("two jobs are called %s", l.Job.Job)
			}
			seen[l.Job.Job] = true
		}
	})
}

func TestAnImportEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := Import(ctx, []byte("* * * * * true\n"), Options{Group: "ops"}); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
}
