package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAScriptsFileBecomesAPartOfItsJob(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("scripts/report.py", "print(\"<ü>\")\n")
	write("scripts/large.py", strings.Repeat("x", job.MaxScript+1))
	write("scripts/binary.py", "\xff")
	read := func(rest string) ([]manifest.Document, error) {
		t.Helper()
		write("jobs/job.yaml", "job: a/b\nparams: 12345678901234567890\ntask:\n  script:\n    language: python\n"+rest)
		return manifest.Read([]string{filepath.Join(folder, "jobs")}, nil)
	}

	docs, err := read("    file: ../scripts/report.py\n")
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.Decode(docs[0].JSON)
	if err != nil || *j.Task.Script != (job.Script{Language: "python", Source: "print(\"<ü>\")\n"}) || string(j.Params) != "12345678901234567890" {
		t.Errorf("%s, %v", docs[0].JSON, err)
	}

	refused := func(rest, reason string) {
		t.Helper()
		_, err := read(rest)
		want := fmt.Sprintf("%s:6: task.script.file %s", filepath.Join(folder, "jobs/job.yaml"), reason)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v\nwant %s", rest, err, want)
		}
	}
	refused("    file: gone.py\n", `"gone.py" does not exist`)
	refused("    file: ../scripts\n", `"../scripts" is no plain file`)
	refused("    file: ../scripts/large.py\n", `"../scripts/large.py" has 131073 bytes`)
	refused("    file: ../scripts/binary.py\n", `"../scripts/binary.py" is not text`)
	refused("    file: 5\n", "must be the name of a file")
	refused("    file: ../scripts/report.py\n    source: x\n", "is given, and source or digest too")
}

func TestTheScriptsOfStepsAreReadFromTheirFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one.py", "print(1)\n")
	read := func(file string) ([]manifest.Document, error) {
		t.Helper()
		write("job.yaml", "job: a/b\nsteps:\n- {step: x, task: {handler: h}}\n- {step: y, task: {script: {language: python, file: "+file+"}}}\n")
		return manifest.Read([]string{filepath.Join(folder, "job.yaml")}, nil)
	}
	docs, err := read("one.py")
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.Decode(docs[0].JSON)
	if err != nil || j.Steps[0].Task.Handler != "h" || *j.Steps[1].Task.Script != (job.Script{Language: "python", Source: "print(1)\n"}) {
		t.Errorf("%s, %v", docs[0].JSON, err)
	}
	if _, err := read("two.py"); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(folder, "job.yaml")+`:4: steps[1].task.script.file "two.py" does not exist`) {
		t.Errorf("%v", err)
	}
}
