package reason

import "strings"

// Writer writes reasons for a reader.
type Writer struct {
	Template func(code string) string // "" for a code that it does not have
	Value    func(kind Kind, value string) string
	Joint    string // between reasons that belong together
}

// English returns the English template of a code, or "" if there is none.
func English(code string) string {
	for _, s := range all {
		if s.Code == code {
			return s.Template
		}
	}
	return ""
}

// Write returns a reason as w writes it. Text without a code stays as it is.
func (w *Writer) Write(s *Said) string {
	template := w.Template(s.Code)
	if s.Code == "" || template == "" {
		return s.Text
	}
	var b strings.Builder
	at := 0
	for _, m := range slot.FindAllStringSubmatchIndex(template, -1) {
		b.WriteString(template[at:m[0]])
		value := s.Params[template[m[2]:m[3]]]
		switch {
		case m[4] >= 0:
			b.WriteString(w.Value(Kind(template[m[4]:m[5]]), value))
		case value == "1":
			b.WriteString(value + " " + template[m[6]:m[7]])
		default:
			b.WriteString(value + " " + template[m[8]:m[9]])
		}
		at = m[1]
	}
	b.WriteString(template[at:])
	if s.And != nil {
		b.WriteString(w.Joint + w.Write(s.And))
	}
	return b.String()
}
