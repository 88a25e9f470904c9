package draw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteYAML writes JSON as YAML, fields in their order and numbers as they were written. Text that could be read as
// anything else stays in the quotes of JSON, which are YAML too; text of several lines
// becomes a block if that keeps every byte of it.
func WriteYAML(w io.Writer, data []byte) error {
	var y yamlWriter
	y.dec = json.NewDecoder(bytes.NewReader(data))
	y.dec.UseNumber()
	if err := y.value("", false); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	_, err := w.Write(bytes.TrimPrefix(y.out.Bytes(), []byte("\n")))
	return err
}

type yamlWriter struct {
	dec *json.Decoder
	out bytes.Buffer
}

// value writes the next value after "key:" or "-". indent is that of the lines below;
// the first field of an object in a list stands on the line of its dash.
func (y *yamlWriter) value(indent string, inList bool) error {
	t, err := y.dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if !y.dec.More() {
			_, err := y.dec.Token()
			y.out.WriteString(map[json.Delim]string{'{': " {}\n", '[': " []\n"}[t])
			return err
		}
		if t == '{' {
			return y.object(indent, inList)
		}
		return y.list(indent)
	case string:
		y.out.WriteString(" " + yamlText(t, indent) + "\n")
	case nil:
		y.out.WriteString(" null\n")
	case json.Number:
		y.out.WriteString(" " + string(t) + "\n")
	default:
		_, _ = fmt.Fprintf(&y.out, " %v\n", t)
	}
	return nil
}

func (y *yamlWriter) object(indent string, inList bool) error {
	if inList {
		y.out.WriteByte(' ')
	} else {
		y.out.WriteByte('\n')
	}
	for first := true; y.dec.More(); first = false {
		key, err := y.dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("BUG: an object's key is not text")
		}
		if !first || !inList {
			y.out.WriteString(indent)
		}
		y.out.WriteString(yamlWord(name) + ":")
		if err := y.value(indent+"  ", false); err != nil {
			return err
		}
	}
	_, err := y.dec.Token()
	return err
}

func (y *yamlWriter) list(indent string) error {
	y.out.WriteByte('\n')
	for y.dec.More() {
		y.out.WriteString(indent + "-")
		if err := y.value(indent+"  ", true); err != nil {
			return err
		}
	}
	_, err := y.dec.Token()
	return err
}

var (
	// plainText is text that no reader of YAML takes for anything else.
	plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	// reserved words are null or booleans, to this or that reader.
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
	// blockText is text of which a block keeps every byte.
	blockText = regexp.MustCompile(`^[^\x00-\x20\x7f][^\x00-\x08\x0b-\x1f\x7f]*[^\x00-\x20\x7f]\n$`)
)

func yamlText(s, indent string) string {
	if strings.Count(s, "\n") > 1 && blockText.MatchString(s) && !strings.Contains(s, " \n") && !strings.Contains(s, "\t") {
		return "|\n" + indent + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+indent)
	}
	return yamlWord(s)
}

func yamlWord(s string) string {
	if plainText.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("BUG: encode text: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
