package main

import (
	"context"
	"errors"
)

func benchRun(context.Context, benchOptions) (*benchResult, error) { return nil, errors.New("x") }
