package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// gateway stands in front of a simulator, speaks TLS and HTTP/2, and keeps what
// requests carried.
type gateway struct {
	http.Handler
	mu    sync.Mutex
	seen  map[string]int // by path
	wrong []string
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.seen[r.URL.Path]++
	if r.Proto != "HTTP/2.0" || r.Header.Get("X-Tenant") != "tenant-canary" || r.Header.Get("Authorization") != "Bearer sk-canary" {
		g.wrong = append(g.wrong, r.Proto+" "+r.URL.Path)
	}
	g.mu.Unlock()
	g.Handler.ServeHTTP(w, r)
}

// TestFlagsReachTheServer: every request of a sweep, the list of models and the
// metrics included, goes the way that the flags say, and the journal holds what
// that changes and no secret.
func TestFlagsReachTheServer(t *testing.T) {
	p, err := enginesim.ParseTarget("kneed?chunk=32&speed=8")
	if err != nil {
		t.Fatal(err)
	}
	sim := enginesim.New(p)
	defer func() { _ = sim.Close() }()
	behind, err := sim.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ErrorLog = log.New(io.Discard, "", 0) // streams that the time limit ends
	g := &gateway{Handler: proxy, seen: map[string]int{}}
	s := httptest.NewUnstartedServer(g)
	s.EnableHTTP2 = true
	client := newClient(t)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: client.pool}
	s.StartTLS()
	defer s.Close()

	dir := t.TempDir()
	ca, key, journal := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key"), filepath.Join(dir, "j.jsonl")
	for path, text := range map[string]string{
		ca:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		key: "sk-canary\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, talk bytes.Buffer
	code := run(context.Background(), []string{
		"sweep", "--target", s.URL, "--gpus", "1", "--effort", "quick", "--osl", "8", "--max-wall", "1s", "--journal", journal, "-o", "json",
		"--ca-file", ca, "--cert-file", client.cert, "--key-file", client.key, "--http2", "--header", "X-Tenant: tenant-canary", "--body-field", "top_k=40", "--endpoint", "completions",
		"--transport", "go-openai", "--api-key-file", key, "--request-timeout", "1m", "--first-token-timeout", "30s", "--idle-timeout", "20s",
	}, nil, &out, &talk)
	if code != exitInconclusive || !strings.Contains(out.String(), "is not recorded") {
		t.Errorf("exit %d: %s\n%s", code, out.String(), talk.String())
	}
	var text bytes.Buffer
	if run(context.Background(), []string{"sweep", "--journal", journal}, nil, &text, io.Discard); !strings.Contains(text.String(), "CROSS-CHECK") {
		t.Errorf("the curve does not say how it was measured: %s", text.String())
	}
	lines, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"endpoint":"completions"`, `"transport":"go-openai"`, `"http2":true`, `"extra_headers":["X-Tenant"]`, `"extra_body":{"top_k":40}`} {
		if !bytes.Contains(lines, []byte(want)) {
			t.Errorf("the journal lacks %s: %s", want, lines)
		}
	}
	for name, text := range map[string]string{"journal": string(lines), "stdout": out.String(), "stderr": talk.String()} {
		if strings.Contains(text, "canary") {
			t.Errorf("a secret in the %s: %s", name, text)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.wrong) > 0 {
		t.Errorf("%d requests went another way, such as %s", len(g.wrong), g.wrong[0])
	}
	if g.seen["/v1/completions"] < 5 || g.seen["/v1/models"] == 0 || g.seen["/metrics"] == 0 || g.seen["/v1/chat/completions"] > 0 {
		t.Errorf("the server saw %v", g.seen)
	}
}

// client is a certificate of its own authority, as files and as a pool that
// trusts nobody else.
type client struct {
	cert, key string
	pool      *x509.CertPool
}

func newClient(t *testing.T) client {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, pub, priv)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := client{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	c.pool.AddCert(cert)
	for path, block := range map[string]*pem.Block{c.cert: {Type: "CERTIFICATE", Bytes: der}, c.key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
