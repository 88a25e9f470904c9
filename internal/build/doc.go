// Package build tells how the program was built.
package build
