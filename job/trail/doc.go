// Package trail holds the words of the audit log: who changed what. Package audit writes it.
package trail
