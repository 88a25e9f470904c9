package xxljob

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// replaced is what programs put in the place of what they could not read as UTF-8.
const replaced = "\uFFFD"

// howToDump ends what is said of a dump in another encoding.
const howToDump = "dump with mysqldump --default-character-set=utf8mb4 --result-file=dump.sql"

// checkWhole refuses dumps that cannot be read at all: in UTF-16, which PowerShell writes, and of other
// databases, whose texts have other escapes.
func checkWhole(data []byte) error {
	head := data[:min(len(data), 4096)]
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.Count(head, []byte{0}) > len(head)/4:
		return wrong("is not UTF-8 but UTF-16, as PowerShell writes with >; %s", howToDump)
	case bytes.Contains(head, []byte("PostgreSQL database dump")), bytes.Contains(head, []byte("standard_conforming_strings")):
		return wrong("is of PostgreSQL; only dumps by mysqldump are read, because texts are escaped in another way")
	}
	return nil
}

// checkText refuses rows whose texts are in another encoding.
func checkText(rows []row) error {
	for _, r := range rows {
		for column, text := range r.values {
			if !utf8.ValidString(text) || strings.Contains(text, replaced) {
				return notUTF8(r.line, "column "+column)
			}
		}
	}
	return nil
}

// instead says that a dump is in another encoding, if that may be why it cannot be read.
func instead(err error, data []byte) error {
	for n, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return notUTF8(n+1, "a text")
		}
	}
	return err
}

func notUTF8(line int, what string) error {
	return wrong("line %d: %s is not UTF-8; %s, or convert it: iconv -f GBK -t UTF-8 dump.sql", line, what, howToDump)
}
