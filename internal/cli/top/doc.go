// Package top is "carillon top": it asks a server again and again how things are, and draws that
// to fit a terminal.
package top
