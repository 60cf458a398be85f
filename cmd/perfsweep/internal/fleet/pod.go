package fleet

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Pod is one generator, however it is reached. All methods may be called from
// several goroutines at once.
type Pod interface {
	// Name tells generators apart in warnings and journals.
	Name() string
	// Call makes one request of the generator's control server and returns the
	// body of its answer. The header, which holds the token, must arrive as it
	// is. A call may wait for up to half a minute before its answer begins, and
	// an answer has up to MaxAnswer bytes. A status other than 200 is an error
	// that names the status and the beginning of the body.
	Call(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error)
	// Lines follows what the generator prints, from since on. It may end, break
	// or repeat lines at any time: the fleet comes again for what is missing.
	Lines(ctx context.Context, since time.Time) (io.ReadCloser, error)
	// Alive names the process behind the pod: another name than before says
	// that it was restarted or replaced in between, and an error that it is
	// gone or cannot be asked.
	Alive(ctx context.Context) (incarnation string, err error)
}

// MaxAnswer bounds the answer to one call.
const MaxAnswer = 1 << 20

// TokenHeader carries the token that guards a control server. It is not
// Authorization, which the proxy of a Kubernetes API server takes away.
const TokenHeader = "Perfsweep-Token"

// DefaultPort is where a generator's control server listens unless told
// otherwise.
const DefaultPort = 7077
