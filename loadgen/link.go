package loadgen

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// link is what the connections of all streams have in common, read once: how
// to dial, whom to trust, which protocol to speak.
type link struct {
	dial      dialFunc
	raw       bool // dial gives no sockets of the kernel
	once      bool // a connection carries one request
	tls       *tls.Config
	proxy     func(*http.Request) (*url.URL, error)
	protocols http.Protocols
}

// link reads the files that the network names. Their errors are the user's,
// and name the file.
func (c *Config) link(base string) (*link, error) {
	l := &link{dial: c.dialer(), raw: c.Dial != nil}
	n := c.Network
	if c.Dial == nil && n.UnixSocket != "" {
		if err := checkSocket(n.UnixSocket); err != nil {
			return nil, err
		}
	}
	var err error
	if l.tls, err = n.tlsConfig(); err != nil {
		return nil, err
	}
	if n.HTTP2 {
		l.protocols.SetHTTP2(true)
		l.protocols.SetUnencryptedHTTP2(true)
	} else {
		l.protocols.SetHTTP1(true)
	}
	proxy, err := n.Proxy(base)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		if n.HTTP2 && strings.HasPrefix(base, "http:") {
			return nil, badInput("HTTP/2 with prior knowledge does not go through the proxy %s: leave out one of the two, or use https", proxy.Host)
		}
		l.proxy = http.ProxyURL(proxy)
	}
	return l, nil
}

// Proxy is the proxy through which requests to a target go, nil for none. Its
// URL may hold a password: show no more than its Host.
func (n Network) Proxy(target string) (*url.URL, error) {
	if !n.ProxyFromEnvironment {
		return nil, nil
	}
	req, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		return nil, badInput("the target is not a URL: write http://HOST:PORT or https://HOST[/BASE]")
	}
	proxy, err := http.ProxyFromEnvironment(req)
	// The error's text would hold the whole URL. One that net/http cannot parse
	// it takes for a host and a path: http://… becomes the host "http:".
	if err != nil || proxy != nil && strings.HasSuffix(proxy.Host, ":") {
		return nil, badInput("the proxy in the environment is not a URL: look at HTTP_PROXY, HTTPS_PROXY and their small forms")
	}
	return proxy, nil
}

func (n Network) tlsConfig() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if n.CAFile != "" {
		pem, err := readSmall(n.CAFile)
		if err != nil {
			return nil, badInput("cannot read the CA file: %w", err)
		}
		if t.RootCAs, err = x509.SystemCertPool(); err != nil {
			t.RootCAs = x509.NewCertPool() // a container without certificates
		}
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, badInput("the CA file %s holds no certificate in PEM form", n.CAFile)
		}
	}
	if n.CertFile == "" {
		return t, nil
	}
	cert, err := readSmall(n.CertFile)
	if err != nil {
		return nil, badInput("cannot read the client certificate: %w", err)
	}
	key, err := readSmall(n.KeyFile)
	if err != nil {
		return nil, badInput("cannot read the key of the client certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, badInput("the client certificate %s with the key %s: %v", n.CertFile, n.KeyFile, err)
	}
	t.Certificates = []tls.Certificate{pair}
	return t, nil
}

// maxSmall bounds a file of certificates; the system's own bundles have 250 KB.
const maxSmall = 8 << 20

// readSmall reads a regular file: a pipe without a writer would hold the run
// for ever.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxSmall:
		return nil, badInput("%s is not a regular file of at most %d MiB", path, maxSmall>>20)
	}
	return os.ReadFile(path)
}

func checkSocket(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return badInput("cannot use the Unix socket: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return badInput("%s is not a Unix socket", path)
	}
	return nil
}
