package loadgen

import (
	"encoding/json"
	"time"
)

// Endpoint is the API that requests go to.
type Endpoint string

const (
	// ChatCompletions is /v1/chat/completions, the default.
	ChatCompletions Endpoint = "chat"
	// Completions is /v1/completions.
	Completions Endpoint = "completions"
)

// TransportKind is the HTTP client that carries requests.
type TransportKind string

const (
	// Native is net/http with this package's own reader, the default.
	Native TransportKind = "native"
	// GoOpenAI is go-openai's client, for a cross-check of the native one only.
	GoOpenAI TransportKind = "go-openai"
)

// Network says how the endpoint is reached beyond its URL. The zero value is
// HTTP/1.1 over TCP with the system's certificates and no proxy.
type Network struct {
	// CAFile holds PEM certificates trusted beside the system's (SSL_CERT_FILE
	// replaces those); CertFile and KeyFile are the client's own.
	CAFile, CertFile, KeyFile string
	// UnixSocket is the path of the socket that takes the place of the URL's
	// host and port. It has neither kernel timestamps nor TCP_QUICKACK.
	UnixSocket string
	// ProxyFromEnvironment honours HTTPS_PROXY and its kin, which are ignored
	// otherwise: a proxy is a measurement of the proxy.
	ProxyFromEnvironment bool
	// HTTP2 demands HTTP/2: by ALPN on https, with prior knowledge on http.
	// Every stream still has a connection of its own, so that no answer waits
	// behind another's bytes, no limit of streams a connection queues requests
	// here, and receive times stay those of one answer. Another goroutine reads
	// the frames: when it is ahead, an event takes the time of a later read, at
	// the latest the time at which this side saw it.
	HTTP2 bool
	// Header and Body are added to every request; neither replaces what the
	// generator itself must set. Body may give temperature and ignore_eos
	// other values. Header values are treated as secrets.
	Header map[string]string
	Body   map[string]json.RawMessage
}

// Request is one finished request, as Config.OnRequest gets it. Times are
// since Result.Started; a time that never came is 0.
type Request struct {
	Number  uint64
	Stream  int
	WarmUp  bool // sent before the measured part
	TopUp   bool // sent after it to keep the load up
	Outcome Outcome
	Error   string // clean and bounded

	// Asked is when the stream wanted to send, Sent when its first byte went to
	// the socket: what lies between is a dial or this side's own queue.
	Asked, Sent time.Duration
	// NewConnection says that a connection was dialled for it; Connect and TLS
	// are how long that took.
	NewConnection bool
	Connect, TLS  time.Duration
	// Headers is when the head of the answer arrived; FirstToken, SecondToken
	// and LastToken are chunks with output of any kind (text, reasoning, tool
	// call); FirstVisible is the first with text or a tool call; End is the end of the answer.
	Headers, FirstToken, SecondToken, FirstVisible, LastToken, End time.Duration
	// Chunks holds the arrivals of all token-bearing chunks. It is lent for the
	// time of the call.
	Chunks []time.Duration

	OutputTokens, PromptTokens, AskedTokens int64
	// Parts of the two above, where the server tells them: 0 of them told is
	// not the same as not told.
	ReasoningTokens, CachedTokens int64
	ReasoningTold, CachedTold     bool
	FinishReason                  string
	// ServerTTFT is what the server itself says, where it does (nvext.timing).
	ServerTTFT time.Duration
}
