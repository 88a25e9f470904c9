package node

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// inside follows keys and indices into a document. What is not there is nil.
func inside(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// argumentOf returns what a list of arguments gives a flag.
func argumentOf(args any, flag string) string {
	list, _ := args.([]any)
	for i, a := range list {
		text := fmt.Sprint(a)
		if value, is := strings.CutPrefix(text, flag+"="); is {
			return value
		}
		if text == flag && i+1 < len(list) {
			return fmt.Sprint(list[i+1])
		}
	}
	return ""
}

func deployed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// longer reports whether a process gets longer to end than it takes for itself.
func longer(t *testing.T, limit, grace string) bool {
	t.Helper()
	a, err := time.ParseDuration(limit)
	if err != nil {
		t.Fatal(err)
	}
	b, err := time.ParseDuration(grace)
	if err != nil {
		t.Fatal(err)
	}
	return a > b
}

// hidesTheSeed checks that a container opens the seed as root and runs the executor as the
// user of its image, who gets it as standard input.
func hidesTheSeed(t *testing.T, where string, entry, args any, seed string) {
	t.Helper()
	list, _ := entry.([]any)
	script := fmt.Sprint(inside(entry, 2))
	if fmt.Sprint(inside(entry, 0)) != "sh" || fmt.Sprint(inside(entry, 1)) != "-c" || len(list) != 4 ||
		!strings.HasPrefix(script, "exec setpriv --reuid=65532 --regid=65532 --clear-groups /usr/bin/carillon ") || !strings.HasSuffix(script, `"$@" <`+seed) {
		t.Errorf("%s: the executor begins by %v", where, entry)
	}
	if from := argumentOf(args, "--credential"); from != "-" {
		t.Errorf("%s: the executor reads its seed from %q", where, from)
	}
}

// keepsSpool reports whether an executor has its spool in a folder of a volume that the
// image gives to its user.
func keepsSpool(args any, mount string) bool {
	return mount == "/var/lib/carillon" && strings.HasPrefix(argumentOf(args, "--spool"), mount+"/")
}

func TestTheManifestsFitTheImagesAndTheProgram(t *testing.T) {
	checkManifests(t, documents(t, "kubernetes", deployed(t, "kubernetes/carillon.yaml")))
}

// checkManifests compares what runs a server and an executor with the images and the program.
func checkManifests(t *testing.T, manifests []any) {
	t.Helper()
	contract, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := string(deployed(t, "Dockerfile"))
	if !strings.Contains(dockerfile, "USER 65532:65532") || !strings.Contains(dockerfile, ":nonroot AS server") || strings.Count(dockerfile, `ENTRYPOINT ["/usr/bin/carillon"]`) != 2 {
		t.Error("the images run something else, or as somebody else, than the manifests expect")
	}
	if !strings.Contains(dockerfile, "--chown=65532:65532 /var/lib/carillon /var/lib/carillon\nUSER 65532:65532") {
		t.Error("the executor's user cannot write to a volume at /var/lib/carillon")
	}
	containers := 0
	var labels, selectors []string
	for _, doc := range manifests {
		if selector := inside(doc, "spec", "selector", "app"); selector != nil {
			selectors = append(selectors, fmt.Sprint(selector))
		}
		pod := inside(doc, "spec", "template", "spec")
		if pod == nil {
			continue
		}
		labels = append(labels, fmt.Sprint(inside(doc, "spec", "template", "metadata", "labels", "app")))
		containers++
		c, volume := inside(pod, "containers", 0), fmt.Sprint(inside(pod, "volumes", 0))
		args, name := inside(c, "args"), fmt.Sprint(inside(c, "name"))
		if user := fmt.Sprint(inside(pod, "securityContext", "runAsUser")); name != "executor" && user != "65532" {
			t.Errorf("%s runs as %s", name, user)
		}
		if name == "executor" {
			hidesTheSeed(t, "kubernetes", inside(c, "command"), args, "/etc/carillon/seed")
			if fmt.Sprint(inside(c, "securityContext", "runAsUser")) != "0" || inside(pod, "securityContext", "fsGroup") != nil {
				t.Error("root does not open the seed, or lets a group read it")
			}
			modes := volume
			if !strings.Contains(modes, fmt.Sprintf("mode:%d path:seed", 0o400)) || !strings.Contains(modes, fmt.Sprintf("mode:%d path:ca.pem", 0o444)) {
				t.Errorf("the seed is not for root alone, or what the executor needs is: %s", modes)
			}
			if mount := fmt.Sprint(inside(c, "volumeMounts", 1, "mountPath")); !keepsSpool(args, mount) {
				t.Errorf("the spool is not on the volume at %s", mount)
			}
		}
		if mount := inside(c, "volumeMounts", 0, "mountPath"); mount != "/etc/carillon" {
			t.Errorf("%s has its keys at %v", name, mount)
		}
		list, _ := args.([]any)
		for _, a := range list {
			if _, file, is := strings.Cut(fmt.Sprint(a), "=/etc/carillon/"); is && !strings.Contains(volume, "path:"+file) {
				t.Errorf("%s reads %s, which its volume does not have: %s", name, file, volume)
			}
		}
		if grace := argumentOf(args, "--grace"); grace != "" && !longer(t, fmt.Sprint(inside(pod, "terminationGracePeriodSeconds"))+"s", grace) {
			t.Errorf("%s is killed before its grace of %s is over", name, grace)
		}
		for _, probe := range []string{"readinessProbe", "livenessProbe", "startupProbe"} {
			get := inside(c, probe, "httpGet")
			if get == nil {
				continue
			}
			if path := fmt.Sprint(inside(get, "path")); !strings.Contains(string(contract), "\n  "+path+":\n") || inside(get, "port") != inside(c, "ports", 0, "name") {
				t.Errorf("%s of %s asks %v", probe, name, get)
			}
		}
		if http := argumentOf(args, "--http"); http != "" && !strings.HasSuffix(http, ":"+fmt.Sprint(inside(c, "ports", 0, "containerPort"))) {
			t.Errorf("%s listens at %s", name, http)
		}
	}
	for _, s := range selectors {
		if !slices.Contains(labels, s) {
			t.Errorf("nothing is labelled %s: %v", s, labels)
		}
	}
	if containers != 2 || len(selectors) != 1 {
		t.Errorf("%d containers and %d services were looked at", containers, len(selectors))
	}
}

func TestTheComposeFileFitsTheImagesAndTheProgram(t *testing.T) {
	docs := documents(t, "compose", deployed(t, "compose/compose.yaml"))
	setup := string(deployed(t, "compose/setup.sh"))
	services, _ := inside(docs[0], "services").(map[string]any)
	secrets, _ := inside(docs[0], "secrets").(map[string]any)
	looked := 0
	for name, service := range services {
		variables, _ := inside(service, "environment").(map[string]any)
		has := fmt.Sprint(inside(service, "secrets"))
		for variable, value := range variables {
			secret, is := strings.CutPrefix(fmt.Sprint(value), "/run/secrets/")
			if !is {
				continue
			}
			looked++
			if secrets[secret] == nil || !strings.Contains(has, secret) {
				t.Errorf("%s of %s is %v, which it is not given", variable, name, value)
			}
		}
		command := inside(service, "command")
		if name == "executor" {
			entry, _ := inside(service, "entrypoint").([]any)
			if len(entry) == 4 { // a dollar is written twice
				entry[2] = strings.ReplaceAll(fmt.Sprint(entry[2]), "$$", "$")
			}
			hidesTheSeed(t, "compose", entry, command, "/run/secrets/credential")
			if inside(service, "user") != "root" || !strings.Contains(setup, "\numask 077\n") {
				t.Error("the seed is not for root alone")
			}
			_, mount, _ := strings.Cut(fmt.Sprint(inside(service, "volumes", 0)), ":")
			if !keepsSpool(command, mount) {
				t.Errorf("the spool is not on the volume at %s", mount)
			}
		}
		if grace := argumentOf(command, "--grace"); grace != "" && !longer(t, fmt.Sprint(inside(service, "stop_grace_period")), grace) {
			t.Errorf("%s is killed before its grace of %s is over", name, grace)
		}
		if http, ports := argumentOf(command, "--http"), inside(service, "ports", 0); http != "" {
			_, listens, _ := strings.Cut(http, ":")
			if _, published, _ := strings.Cut(fmt.Sprint(ports), ":"); published != listens {
				t.Errorf("%s listens at %s, and %v is published", name, http, ports)
			}
		}
	}
	for name, secret := range secrets {
		file := strings.TrimPrefix(fmt.Sprint(inside(secret, "file")), "./secrets/")
		if base := file[strings.LastIndex(file, "/")+1:]; name == "credential" {
			// "credential create" refuses to overwrite a file.
			if strings.Contains(setup, base) || !strings.Contains(string(deployed(t, "compose/compose.yaml")), "-g default --file secrets/"+base+"\n") {
				t.Errorf("%s is made by setup.sh, or by nobody", base)
			}
		} else if !strings.Contains(setup, base) {
			t.Errorf("nothing makes the file %s of the secret %s", file, name)
		}
	}
	if looked < 10 {
		t.Errorf("only %d secrets were looked at", looked)
	}
}

// The files tell people to search the log for the link, and have it written as JSON.
func TestTheLinkForTheAdministratorIsFoundInTheLog(t *testing.T) {
	var b strings.Builder
	log, err := NewLogger(&b, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	log.Warn("no administrator yet: open the link to create one", "link", "https://localhost:8822/sign-in#invitation=abc")
	for _, name := range []string{"compose/compose.yaml", "kubernetes/carillon.yaml"} {
		text := string(deployed(t, name))
		if !strings.Contains(text, "log-format") || !strings.Contains(text, "json") {
			t.Errorf("%s: the log is no JSON", name)
		}
		hint := regexp.MustCompile(`grep -o '([^']+)'`).FindStringSubmatch(text)
		if hint == nil || !strings.Contains(regexp.MustCompile(hint[1]).FindString(b.String()), "#invitation=abc") {
			t.Errorf("%s: %v finds nothing in %s", name, hint, b.String())
		}
	}
}

func TestTheExamplesShowMetrics(t *testing.T) {
	for _, name := range []string{"compose/compose.yaml", "kubernetes/carillon.yaml", "systemd/server.yaml.example"} {
		if !strings.Contains(string(deployed(t, name)), ":9822") {
			t.Errorf("%s: a server shows no metrics at the port of scrape.yaml", name)
		}
	}
}
