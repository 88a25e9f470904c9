package main

import (
	"fmt"
	"strings"
)

// addLLMs adds the list of pages for programs that read them, and all of them as one file.
func (s *site) addLLMs() {
	var list, full strings.Builder
	list.WriteString("# Carillon\n\n> Cron that can prove that it fired: a distributed job scheduler on NATS JetStream.\n")
	full.WriteString(s.pages[home].text)
	for _, of := range s.nav {
		if isChinese(of) { // the same in another language
			continue
		}
		fmt.Fprintf(&list, "\n## %s\n\n", of.Text)
		for _, e := range of.Items {
			fmt.Fprintf(&list, "- [%s](%s.html): %s\n", e.Text, e.Link[1:], link.ReplaceAllString(strings.ReplaceAll(e.says, "[", ""), ""))
			full.WriteString("\n\n" + s.pages[e.at].text)
		}
	}
	list.WriteString("\n## All in one file\n\n- [llms-full.md](llms-full.md)\n")
	s.files["llms.txt"], s.files["llms-full.md"] = []byte(list.String()), []byte(full.String())
}
