// Package assist serves questions about jobs and runs to assistants, by the Model Context Protocol.
package assist
