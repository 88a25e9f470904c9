package export

import "strings"

// CellText keeps a spreadsheet from taking foreign text for a formula.
func CellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
