package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// netFlags say how requests reach the target and what they carry.
type netFlags struct {
	caFile, certFile, keyFile, unixSocket string
	proxy, http2                          bool
	headers, fields                       []string
	endpoint, transport                   string
	keyEnv, apiKeyFile                    string
	request, firstToken, idle             time.Duration
}

// netFlagNames are those that change what is measured or how: without a target
// they would be ignored.
var netFlagNames = [...]string{
	"ca-file", "cert-file", "key-file", "unix-socket", "proxy-from-env", "http2", "header", "body-field", "endpoint", "transport",
	"api-key-file", "request-timeout", "first-token-timeout", "idle-timeout",
}

func (n *netFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&n.endpoint, "endpoint", string(loadgen.ChatCompletions), "chat or completions")
	f.StringVar(&n.transport, "transport", string(loadgen.Native), "native, or go-openai for a cross-check, from which no gate is set or judged")
	f.StringVar(&n.keyEnv, "api-key-env", "PERFSWEEP_API_KEY", "environment variable that holds the API key, if the target needs one")
	f.StringVar(&n.apiKeyFile, "api-key-file", "", "file that holds the API key; one line end behind it is dropped")
	f.StringArrayVar(&n.headers, "header", nil, "'Name: value' for every request, such as 'X-Tenant: a'; repeatable. Others on this machine can see a command line: keys belong in --api-key-file")
	f.StringArrayVar(&n.fields, "body-field", nil, `key=JSON for every request body, such as nvext={"annotations":[]} or top_k=40; repeatable`)
	f.StringVar(&n.caFile, "ca-file", "", "PEM certificates to trust beside the system's")
	f.StringVar(&n.certFile, "cert-file", "", "PEM certificate of this client; needs --key-file")
	f.StringVar(&n.keyFile, "key-file", "", "PEM key of --cert-file")
	f.StringVar(&n.unixSocket, "unix-socket", "", "connect to this socket instead of the target's host and port")
	f.BoolVar(&n.proxy, "proxy-from-env", false, "honour HTTP_PROXY, HTTPS_PROXY and NO_PROXY; a proxy is measured along with the server")
	f.BoolVar(&n.http2, "http2", false, "speak HTTP/2, one connection a stream (default: HTTP/1.1)")
	f.DurationVar(&n.request, "request-timeout", 0, "longest time for a request (default 5m)")
	f.DurationVar(&n.firstToken, "first-token-timeout", 0, "longest time to the first token; comments are none (default: none, 1m in the preflight)")
	f.DurationVar(&n.idle, "idle-timeout", 0, "longest silence after the first token; comments end it (default: none, 30s in the preflight)")
}

// apply puts the flags into a configuration. keyEnvSet says that the user named
// the variable.
func (n *netFlags) apply(cfg *loadgen.Config, keyEnvSet bool) error {
	cfg.Endpoint, cfg.Transport = loadgen.Endpoint(n.endpoint), loadgen.TransportKind(n.transport)
	switch {
	case cfg.Endpoint != loadgen.ChatCompletions && cfg.Endpoint != loadgen.Completions:
		return badInputf("--endpoint %q: use chat or completions", n.endpoint)
	case cfg.Transport != loadgen.Native && cfg.Transport != loadgen.GoOpenAI:
		return badInputf("--transport %q: use native or go-openai", n.transport)
	case n.apiKeyFile != "" && keyEnvSet:
		return badInputf("--api-key-file and --api-key-env exclude each other: give one of the two")
	}
	cfg.Network = loadgen.Network{
		CAFile: n.caFile, CertFile: n.certFile, KeyFile: n.keyFile, UnixSocket: n.unixSocket,
		ProxyFromEnvironment: n.proxy, HTTP2: n.http2,
	}
	if cfg.APIKey = os.Getenv(n.keyEnv); cfg.APIKey == "" && keyEnvSet {
		return badInputf("--api-key-env %s: the variable is not set, or empty; export it, or give --api-key-file FILE", shownVariable(n.keyEnv))
	}
	var err error
	if n.apiKeyFile != "" {
		if cfg.APIKey, err = readKey(n.apiKeyFile); err != nil {
			return err
		}
	}
	if cfg.Network.Header, err = n.headerMap(); err != nil {
		return err
	}
	if cfg.Network.Body, err = n.fieldMap(); err != nil {
		return err
	}
	return n.limit(&cfg.Limits)
}

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// shownVariable is the name of a variable as it may be shown. Where there is no
// such variable a key may have been given in its place, and few keys look like the
// names that variables of keys have.
func shownVariable(name string) string {
	if variableName.MatchString(name) || os.Getenv(name) != "" {
		return name
	}
	return notShown
}

// limit sets the deadlines that were asked for.
func (n *netFlags) limit(l *loadgen.Limits) error {
	for _, d := range []struct {
		flag string
		from time.Duration
		to   *time.Duration
	}{
		{"request-timeout", n.request, &l.RequestTimeout},
		{"first-token-timeout", n.firstToken, &l.FirstTokenTimeout},
		{"idle-timeout", n.idle, &l.IdleTimeout},
	} {
		if d.from < 0 {
			return badInputf("--%s %s: must not be negative", d.flag, d.from)
		}
		if d.from > 0 {
			*d.to = d.from
		}
	}
	return nil
}

// headerMap never shows a value, nor a text that may hold one.
func (n *netFlags) headerMap() (map[string]string, error) {
	out := map[string]string{}
	for i, h := range n.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || name == "" {
			return nil, badInputf("--header number %d: write 'Name: value'", i+1)
		}
		for known := range out {
			if strings.EqualFold(known, name) {
				return nil, badInputf("--header %s is given twice; drop one", name)
			}
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

// keyFields are names under which some servers take a key in a body.
func keyFields() []string {
	return []string{"api_key", "apikey", "api-key", "access_token", "auth_token", "authorization", "password", "secret"}
}

func (n *netFlags) fieldMap() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, f := range n.fields {
		key, value, ok := strings.Cut(f, "=")
		if !ok || key == "" {
			return nil, badInputf("--body-field %q: write key=JSON", f)
		}
		if slices.Contains(keyFields(), strings.ToLower(key)) {
			return nil, badInputf("--body-field %s: the journal keeps what bodies hold, so that a key has no place there: give it with --api-key-file or --api-key-env", key)
		}
		if _, twice := out[key]; twice {
			return nil, badInputf("--body-field %s is given twice; drop one", key)
		}
		if !json.Valid([]byte(value)) {
			return nil, badInputf("--body-field %s: the value is not JSON; a text needs its quotes: %s=\"…\"", key, key)
		}
		out[key] = json.RawMessage(value)
	}
	return out, nil
}

// maxKey bounds an API key; tokens of identity providers reach some kilobytes.
const maxKey = 64 << 10

// readKey reads an API key. No message shows any of it.
func readKey(path string) (string, error) {
	info, err := regularFile(path)
	if err != nil {
		return "", fmt.Errorf("--api-key-file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", badInputf("--api-key-file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	key := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	switch {
	case err != nil:
		return "", badInputf("--api-key-file: %w", err)
	case len(b) > maxKey:
		return "", badInputf("--api-key-file %s has %d bytes: no key is that long; name a file with the key alone", path, info.Size())
	case strings.TrimSpace(key) == "":
		return "", badInputf("--api-key-file %s is empty; name a file with the key", path)
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }):
		return "", badInputf("--api-key-file %s holds more than one word: it must hold the key and nothing else", path)
	}
	return key, nil
}

// exposed warns of a key that others on the machine can read.
func (n *netFlags) exposed() string {
	if n.apiKeyFile == "" {
		return ""
	}
	info, err := os.Stat(n.apiKeyFile)
	if err != nil || info.Mode().Perm()&0o004 == 0 {
		return ""
	}
	return fmt.Sprintf("every user of this machine can read %s (mode %04o): chmod 600 it", n.apiKeyFile, info.Mode().Perm())
}

// record puts into a fingerprint what the flags change of a measurement; no
// value of a header, no certificate and no key is among it.
func record(f *sweep.Fingerprint, cfg loadgen.Config) error {
	if cfg.Endpoint != loadgen.ChatCompletions {
		f.Endpoint = cfg.Endpoint
	}
	if cfg.Transport != loadgen.Native {
		f.Transport = cfg.Transport
	}
	f.HTTP2, f.UnixSocket = cfg.Network.HTTP2, cfg.Network.UnixSocket
	f.ExtraHeaders = slices.Sorted(maps.Keys(cfg.Network.Header))
	if len(cfg.Network.Body) > 0 {
		f.ExtraBody = cfg.Network.Body
	}
	proxy, err := cfg.Network.Proxy(cfg.BaseURL)
	if proxy != nil {
		f.Proxy = proxy.Host
	}
	return err
}

// forSimulator refuses flags that would lead past a simulated target.
func (n *netFlags) forSimulator() error {
	if n.unixSocket != "" || n.proxy || n.caFile != "" || n.certFile != "" || n.keyFile != "" || n.http2 {
		return badInput(errors.New("a sim: target is reached over plain HTTP/1.1 on this machine: drop --unix-socket, --proxy-from-env, --http2 and the files of certificates, or serve it with perfsweep simulate"))
	}
	return nil
}

// network puts the flags for the way to the target into a configuration.
func (c *campaign) network(cfg *loadgen.Config, t *target) error {
	n := &c.flags.net
	if t.simulated {
		if err := n.forSimulator(); err != nil {
			return err
		}
	}
	if why := n.exposed(); why != "" {
		c.say("note: %s", why)
	}
	return n.apply(cfg, c.changed("api-key-env"))
}
