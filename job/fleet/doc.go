// Package fleet holds the words for what Carillon runs on: the instances of executors and
// what they answer, and the state of the streams. Package bus asks for it.
package fleet
