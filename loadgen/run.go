package loadgen

import "context"

// Run holds cfg.Concurrency streams in flight until the limits are met, drains
// them and returns what was measured. A failing server is a Result with bad
// outcomes, not an error; an error means that the run could not be made, or
// that ctx ended (the partial Result is then valid but marked Stopped).
func Run(ctx context.Context, cfg Config) (Result, error) { panic("not built") }
