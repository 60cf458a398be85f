package loadgen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// papers are the files of a small authority: its certificate, and a client's
// certificate and key that it signed.
type papers struct {
	ca, cert, key string
	server        tls.Certificate
	pool          *x509.CertPool
}

func newPapers(t *testing.T) papers {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sign := func(serial int64, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
			IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if parent == nil {
			parent, signer = c, key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return parsed, key
	}
	ca, caKey := sign(1, nil, nil)
	leaf, leafKey := sign(2, ca, caKey)
	der, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	p := papers{ca: write("ca.pem", "CERTIFICATE", ca.Raw), cert: write("cert.pem", "CERTIFICATE", leaf.Raw), key: write("key.pem", "EC PRIVATE KEY", der), pool: x509.NewCertPool()}
	p.pool.AddCert(ca)
	p.server = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}
	return p
}

// front is an engine behind a listener of some kind that notes how requests
// came.
type front struct {
	engine
	mu   sync.Mutex
	seen []visit
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, visit{path: r.URL.Path, proto: r.Proto, host: r.Host, header: r.Header})
	f.mu.Unlock()
	if r.URL.Path == "/v1/models" {
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m","object":"model"}]}`))
		return
	}
	f.engine.ServeHTTP(w, r)
}

// visit is how one request came.
type visit struct {
	path, proto, host string
	header            http.Header
}

// visits are the requests so far. They are copied under the lock: nothing else
// orders a handler of HTTP/2 before what its client does next.
func (f *front) visits() []visit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// TestWaysToTheServer: over each way a preflight and a run reach the server,
// and all requests go the same way.
func TestWaysToTheServer(t *testing.T) {
	p := newPapers(t)
	var h1, h2, h2c http.Protocols
	h1.SetHTTP1(true)
	h2.SetHTTP2(true)
	h2.SetHTTP1(true) // the client demands HTTP/2 even of a server that has both
	h2c.SetUnencryptedHTTP2(true)
	h2c.SetHTTP1(true)
	for name, c := range map[string]struct {
		tls       *tls.Config
		protocols http.Protocols
		network   Network
		proto     string
		socket    bool
	}{
		"TLS with its own authority": {&tls.Config{Certificates: []tls.Certificate{p.server}}, h2, Network{CAFile: p.ca}, "HTTP/1.1", false},
		"TLS with a client certificate": {
			&tls.Config{Certificates: []tls.Certificate{p.server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: p.pool},
			h1, Network{CAFile: p.ca, CertFile: p.cert, KeyFile: p.key}, "HTTP/1.1", false,
		},
		"HTTP/2 by ALPN":                {&tls.Config{Certificates: []tls.Certificate{p.server}}, h2, Network{CAFile: p.ca, HTTP2: true}, "HTTP/2.0", false},
		"HTTP/2 with prior knowledge":   {nil, h2c, Network{HTTP2: true}, "HTTP/2.0", false},
		"a Unix socket":                 {nil, h1, Network{}, "HTTP/1.1", true},
		"HTTP/1.1 on a server of both":  {nil, h2c, Network{}, "HTTP/1.1", false},
		"a Unix socket and certificate": {&tls.Config{Certificates: []tls.Certificate{p.server}}, h1, Network{CAFile: p.ca}, "HTTP/1.1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &front{engine: engine{ttft: time.Millisecond, itl: 100 * time.Microsecond}}
			s := httptest.NewUnstartedServer(f)
			s.TLS, s.Config.Protocols = c.tls, &c.protocols
			n := c.network
			if c.socket {
				path := filepath.Join(t.TempDir(), "s")
				l, err := net.Listen("unix", path)
				if err != nil {
					t.Fatal(err)
				}
				_ = s.Listener.Close()
				s.Listener, n.UnixSocket = l, path
			}
			base := "http://127.0.0.1"
			if s.EnableHTTP2 = c.protocols.HTTP2(); c.tls != nil {
				s.StartTLS()
				base = "https://127.0.0.1"
			} else {
				s.Start()
			}
			defer s.Close()
			if !c.socket {
				base = s.URL
			}
			n.Header = map[string]string{"X-Tenant": "a", "Host": "engine.example"}
			cfg := Config{BaseURL: base, APIKey: "sk-1", Network: n}
			pre, err := RunPreflight(t.Context(), cfg, tokens(8, 0))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Model, cfg.Concurrency, cfg.Kind, cfg.Limits = pre.Model, 4, Gate, Limits{MinRequests: 12}
			if cfg.Workload, err = NewWorkload(tokens(8, 0), pre); err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), cfg)
			if err != nil || r.All[OK] != 16 || r.Health.Dials != 4 {
				t.Fatalf("%v, %v %v, %d dials", err, r.All, r.Errors, r.Health.Dials)
			}
			for _, v := range f.visits() {
				if v.proto != c.proto || v.host != "engine.example" || v.header.Get("X-Tenant") != "a" || v.header.Get("Authorization") != "Bearer sk-1" {
					t.Fatalf("a request over %s to the host %s with the headers %v, want %s", v.proto, v.host, v.header, c.proto)
				}
			}
			if c.socket && (r.Health.KernelTime || r.Health.QuickACK) {
				t.Errorf("a Unix socket with %+v", r.Health)
			}
		})
	}
}

// TestUntrusted: without its authority a server is refused, in words that say
// what to do, and nothing is sent to it.
func TestUntrusted(t *testing.T) {
	p := newPapers(t)
	f := &front{}
	s := httptest.NewUnstartedServer(f)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{p.server}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, err := RunPreflight(t.Context(), Config{BaseURL: s.URL, APIKey: "sk-canary"}, tokens(8, 0))
	if err == nil || !strings.Contains(err.Error(), "--ca-file") || strings.Contains(err.Error(), "canary") || len(f.visits()) > 0 {
		t.Errorf("%v; the server saw %v", err, f.visits())
	}
	// A name that the certificate is not for.
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	if _, err := RunPreflight(t.Context(), Config{BaseURL: other, Network: Network{CAFile: p.ca}}, tokens(8, 0)); err == nil || !strings.Contains(err.Error(), "the host that the certificate is for") {
		t.Errorf("another host: %v", err)
	}
}

// TestCompletionsEndpoint: the prompt goes where this API has it, and the
// extra fields go along.
func TestCompletionsEndpoint(t *testing.T) {
	f := &front{engine: engine{ttft: time.Millisecond}}
	f.special = func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"length\"}]}\n\n" + usageOf("1") + done))
		return true
	}
	s := httptest.NewServer(f)
	defer s.Close()
	for _, kind := range []TransportKind{Native, GoOpenAI} {
		cfg := Config{BaseURL: s.URL, Endpoint: Completions, Transport: kind, Network: Network{Body: map[string]json.RawMessage{
			"temperature": json.RawMessage("0.5"), "nvext": json.RawMessage(`{"annotations": ["x"]}`),
		}}}
		pre, err := RunPreflight(t.Context(), cfg, tokens(8, 0))
		if err != nil || pre.OutputLimitField != "max_tokens" {
			t.Fatal(pre, err)
		}
		cfg.Model, cfg.Concurrency, cfg.Kind, cfg.Workload = pre.Model, 2, Gate, workload(t, tokens(8, 0)) // which knows no preflight
		r, err := Run(t.Context(), cfg)
		if err != nil || r.All[OK] != 4 || r.WholeRun.TTFTP50MS <= 0 {
			t.Errorf("%s: %v, %v, %v", kind, err, r.All, r.Errors)
		}
	}
	for _, v := range f.visits() {
		if v.path != "/v1/models" && v.path != "/v1/completions" {
			t.Errorf("a request for %s", v.path)
		}
	}
	for _, b := range f.sent() {
		if _, isText := b["prompt"].(string); !isText || b["messages"] != nil || b["max_tokens"] != 8.0 || b["max_completion_tokens"] != nil || b["temperature"] != 0.5 || b["nvext"] == nil {
			t.Fatalf("a body of %v", b)
		}
	}
}

// TestNetworkRefused: a mistake is the user's, names what is wrong, and shows
// no secret.
func TestNetworkRefused(t *testing.T) {
	p := newPapers(t)
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"endpoint":             {Config{Endpoint: "embeddings"}, "embeddings"},
		"transport":            {Config{Transport: "curl"}, "curl"},
		"own header":           {Config{Network: Network{Header: map[string]string{"content-type": "canary"}}}, "content-type"},
		"header with a line":   {Config{Network: Network{Header: map[string]string{"X-A": "a\r\nX-B: canary"}}}, "X-A"},
		"no header name":       {Config{Network: Network{Header: map[string]string{"X A": "canary"}}}, "X A"},
		"two authorizations":   {Config{APIKey: "k", Network: Network{Header: map[string]string{"Authorization": "Basic canary"}}}, "Authorization"},
		"key with a line end":  {Config{APIKey: "canary\n"}, "API key"},
		"model":                {Config{Network: Network{Body: map[string]json.RawMessage{"model": raw(`"x"`)}}}, `"model"`},
		"messages":             {Config{Network: Network{Body: map[string]json.RawMessage{"messages": raw(`[]`)}}}, `"messages"`},
		"stream":               {Config{Network: Network{Body: map[string]json.RawMessage{"stream": raw(`false`)}}}, `"stream"`},
		"limit":                {Config{Network: Network{Body: map[string]json.RawMessage{"max_completion_tokens": raw(`1`)}}}, `"max_completion_tokens"`},
		"not JSON":             {Config{Network: Network{Body: map[string]json.RawMessage{"a": raw(`x`)}}}, `"a"`},
		"two values":           {Config{Network: Network{Body: map[string]json.RawMessage{"a": raw(`1,"stream":false`)}}}, `"a"`},
		"CA on http":           {Config{Network: Network{CAFile: p.ca}}, "https"},
		"no CA file":           {Config{BaseURL: "https://h", Network: Network{CAFile: "/nowhere/ca.pem"}}, "/nowhere/ca.pem"},
		"CA without a PEM":     {Config{BaseURL: "https://h", Network: Network{CAFile: p.key}}, p.key},
		"CA is a folder":       {Config{BaseURL: "https://h", Network: Network{CAFile: filepath.Dir(p.ca)}}, "regular file"},
		"certificate alone":    {Config{BaseURL: "https://h", Network: Network{CertFile: p.cert}}, "both"},
		"key of another":       {Config{BaseURL: "https://h", Network: Network{CertFile: p.ca, KeyFile: p.key}}, p.key},
		"no socket":            {Config{Network: Network{UnixSocket: "/nowhere/s"}}, "/nowhere/s"},
		"socket is a file":     {Config{Network: Network{UnixSocket: p.ca}}, p.ca},
		"socket path too long": {Config{Network: Network{UnixSocket: "/" + strings.Repeat("a", 120)}}, "107"},
		"socket and proxy":     {Config{Network: Network{UnixSocket: p.ca, ProxyFromEnvironment: true}}, "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := c.cfg
			if cfg.BaseURL == "" {
				cfg.BaseURL = "http://127.0.0.1:1"
			}
			_, preErr := RunPreflight(t.Context(), cfg, tokens(8, 0))
			cfg.Model, cfg.Concurrency, cfg.Kind, cfg.Workload = "m", 1, Gate, workload(t, tokens(8, 0))
			_, runErr := Run(t.Context(), cfg)
			for who, err := range map[string]error{"preflight": preErr, "run": runErr} {
				var bad *BadInputError
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
					t.Errorf("%s: %v, want %q", who, err, c.want)
				}
			}
		})
	}
}

// TestHeaderValuesStaySecret: a server that quotes what it was sent tells no
// secret to whoever reads the result.
func TestHeaderValuesStaySecret(t *testing.T) {
	e := &engine{special: func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "refused: "+r.Header.Get("X-Token")+" and "+strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "), http.StatusForbidden)
		return true
	}}
	s := httptest.NewServer(e)
	defer s.Close()
	for _, kind := range []TransportKind{Native, GoOpenAI} {
		r, err := Run(t.Context(), Config{
			BaseURL: s.URL, Model: "m", Concurrency: 1, Kind: Gate, Transport: kind, Workload: workload(t, tokens(8, 0)), Limits: Limits{MinRequests: 1},
			Network: Network{Header: map[string]string{"X-Token": "canary-one", "Authorization": "Basic canary-two"}},
		})
		out, _ := json.Marshal(r)
		if err != nil || r.All[HTTPStatus] != 2 || strings.Contains(string(out), "canary") || !strings.Contains(string(out), "[redacted] and [redacted]") {
			t.Errorf("%s: %v, %s", kind, err, out)
		}
	}
}
