package main

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var testSource = source{version: "1.2.3", commit: strings.Repeat("a", 40), at: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)}

const list = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt\n"

// signedFolder returns a folder with a signed release of one empty file, and its key.
func signedFolder(t *testing.T) (dir string, key ed25519.PublicKey) {
	t.Helper()
	t.Setenv(keyVariable, "") // so that the key is gone after the test
	if err := useNewKey(); err != nil {
		t.Fatal(err)
	}
	private, err := releaseKey()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"checksums.txt": list, "empty.txt": ""} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sign(at("checksums.txt"), at("checksums.txt.sig")); err != nil {
		t.Fatal(err)
	}
	if err := attest(testSource, at("checksums.txt"), at("provenance.intoto.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := writePublicKey(at(publicKeyFile), private); err != nil {
		t.Fatal(err)
	}
	if key, err = readPublicKey(at(publicKeyFile)); err != nil {
		t.Fatal(err)
	}
	return dir, key
}

func TestAReleaseVerifiesByItsKey(t *testing.T) {
	dir, key := signedFolder(t)
	names, err := verifyFiles(dir, key)
	if err != nil || len(names) != 1 || names[0] != "empty.txt" {
		t.Errorf("verified %q, %v", names, err)
	}
}

func TestAReleaseThatSomebodyChangedDoesNotVerify(t *testing.T) {
	for _, test := range []struct{ file, text, want string }{
		{"empty.txt", "x", "empty.txt is not the file that was signed"},
		{"checksums.txt", "", "is not the key's signature"},
		{"checksums.txt.sig", strings.Repeat("x", ed25519.SignatureSize), "is not the key's signature"},
		{"provenance.intoto.jsonl", `{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":"e30="}]}`, "the signature does not verify"},
	} {
		dir, key := signedFolder(t)
		if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := verifyFiles(dir, key); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.file, err, test.want)
		}
	}
	dir, _ := signedFolder(t)
	_, other := signedFolder(t)
	if _, err := verifyFiles(dir, other); err == nil {
		t.Error("it verifies by another key")
	}
}

func TestTheProvenanceNamesTheCommitAndEachFile(t *testing.T) {
	dir, key := signedFolder(t)
	text, err := os.ReadFile(filepath.Join(dir, "provenance.intoto.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := openEnvelope(text, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Subject) != 1 || st.Subject[0].Name != "empty.txt" || st.Subject[0].Digest["sha256"] != list[:64] {
		t.Errorf("subjects: %+v", st.Subject)
	}
	if of := st.Predicate.BuildDefinition.ResolvedDependencies; len(of) != 1 || of[0].Digest["gitCommit"] != testSource.commit {
		t.Errorf("built from: %+v", of)
	}
}

func TestALineThatIsNoChecksumIsRefused(t *testing.T) {
	for _, line := range []string{"x", list[:64] + " one-space", list[:60] + "  short", list[:64] + "  ../above"} {
		for _, err := range readChecksums([]byte(line)) {
			if err == nil {
				t.Errorf("%q is read", line)
			}
		}
	}
}

func TestFilesOfDeployNameTheServersImageByItsDigestAndNoOther(t *testing.T) {
	const digest = "sha256:abc"
	const pinned = "ghcr.io/carillon-scheduler/carillon:1.2.3@sha256:abc"
	for file, times := range map[string]int{"compose/compose.yaml": 1, "kubernetes/carillon.yaml": 1, "prometheus/rules.yaml": 0} {
		text, err := os.ReadFile(filepath.Join("../../deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		got := string(pin(text, testSource, digest))
		if n := strings.Count(got, "image: "+pinned+"\n"); n != times {
			t.Errorf("%s names the image %d times, want %d", file, n, times)
		}
		if strings.Contains(got, "target: server") {
			t.Errorf("%s still builds the image", file)
		}
		if strings.Count(got, "carillon-executor") != strings.Count(string(text), "carillon-executor") {
			t.Errorf("%s has another image of the executor", file)
		}
	}
}

func TestTheDockerfileOfAReleaseTakesTheProgramFromTheServersImage(t *testing.T) {
	text, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	got := string(pin(text, testSource, "sha256:abc"))
	if n := strings.Count(got, "COPY --from=ghcr.io/carillon-scheduler/carillon:1.2.3@sha256:abc "); n != 2 {
		t.Errorf("it copies from the image %d times, want 2", n)
	}
	for _, of := range []string{"golang", "--target server", "COPY . .", "AS server", "from=build", "from=server"} {
		if strings.Contains(got, of) {
			t.Errorf("it has %q, which needs a checkout:\n%s", of, got)
		}
	}
	if !strings.HasPrefix(got, "# syntax=docker/dockerfile:1\n") || strings.Count(got, "\nFROM debian:") != 1 {
		t.Errorf("it does not build the executor's image:\n%s", got)
	}
}

func TestAnImageHasTheProgramAndRunsAsNobody(t *testing.T) {
	image, err := imageOf([]byte("the program"), "arm64", testSource)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := layout.Write(t.TempDir(), mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image}))
	if err != nil {
		t.Fatal(err)
	}
	written, err := folder.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(written); err != nil {
		t.Error(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Architecture != "arm64" || file.Config.User != "65532:65532" || file.Config.Labels["org.opencontainers.image.revision"] != testSource.commit {
		t.Errorf("config: %+v", file)
	}
	again, err := imageOf([]byte("the program"), "arm64", testSource)
	if err != nil {
		t.Fatal(err)
	}
	one, errOne := image.Digest()
	two, errTwo := again.Digest()
	if errOne != nil || errTwo != nil || one != two {
		t.Errorf("the same program makes %v, then %v (%v, %v)", one, two, errOne, errTwo)
	}
	files := mutate.Extract(image)
	defer func() { _ = files.Close() }()
	found := map[string]string{}
	for r := tar.NewReader(files); ; {
		header, err := r.Next()
		if err == io.EOF { //nolint:errorlint // which Next returns as it is
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(text)
	}
	if found["usr/bin/carillon"] != "the program" {
		t.Errorf("the program is %q", found["usr/bin/carillon"])
	}
	if n := strings.Count(found["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("it has %d certificate authorities", n)
	}
}

func TestTheProgramOfAnArchiveIsFound(t *testing.T) {
	for name, want := range map[string]string{
		"carillon_1.2.3_linux_amd64.tar.gz": "linux_amd64", "carillon_1.2.3_windows_arm64.zip": "windows_arm64",
		"carillon-deploy.tar.gz": "", "checksums.txt": "", "carillon_1.2.3_amd64.deb": "",
	} {
		if got, is := archiveTarget(name); got != want || is != (want != "") {
			t.Errorf("%s is for %q, want %q", name, got, want)
		}
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range map[string]string{"carillon_1.2.3/README.md": "read", "carillon_1.2.3/carillon": "program"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := fileIn(&archive, "carillon"); err != nil || string(text) != "program" {
		t.Errorf("found %q, %v", text, err)
	}
	file := filepath.Join(t.TempDir(), "carillon.tar.gz")
	if err := writeArchive(file, "carillon_1.2.3/carillon", []byte("program"), testSource.at); err != nil {
		t.Fatal(err)
	}
	if text, err := programIn(file); err != nil || string(text) != "program" {
		t.Errorf("found %q, %v in our archive", text, err)
	}
}
