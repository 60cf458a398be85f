package loadgen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

const (
	modelsTimeout = 10 * time.Second
	maxModelsBody = 4 << 20
)

// noListError says that a server answers but has no list of models.
type noListError struct{ text string }

func (e *noListError) Error() string { return e.text }

// bounded is the HTTP side of go-openai: our transport and headers, no
// redirects, and a body that ends.
type bounded struct {
	t      http.RoundTripper
	header http.Header
	status int // of the last answer, 0 without one
}

func (b *bounded) Do(r *http.Request) (*http.Response, error) {
	adopt(r, b.header)
	resp, err := heads(b.t, r)
	if err != nil {
		return nil, err
	}
	b.status = resp.StatusCode
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxModelsBody), resp.Body}
	return resp, nil
}

// adopt gives a request of another library our headers.
func adopt(r *http.Request, header http.Header) {
	r.Header.Del("Authorization") // go-openai sends an empty bearer token
	for name, values := range header {
		r.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
}

// listModels asks for /v1/models.
func listModels(ctx context.Context, cfg *Config, base string, t http.RoundTripper) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	config := openai.DefaultConfig(cfg.APIKey)
	config.BaseURL = base + "/v1"
	answer := &bounded{t: t, header: cfg.header()}
	config.HTTPClient = answer
	list, err := openai.NewClientWithConfig(config).ListModels(ctx)
	if err != nil {
		return nil, modelsFailure(err, base, cfg.secrets(), answer.status)
	}
	var names []string
	odd, unusable := "", false
	for _, m := range list.Models {
		switch clean := cleanText(m.ID, cfg.secrets()...); {
		case m.ID == "":
		case clean != m.ID: // no request could ask for it, no report show it
			odd, unusable = clean, true
		default:
			names = append(names, m.ID)
		}
	}
	if len(names) == 0 && unusable {
		return nil, fmt.Errorf("the server lists a model whose name is longer than %d bytes or not plain text (%q): give it another name", maxText, odd)
	}
	return names, nil
}

// servedAs keeps the first name other than the one asked for by which a model
// answers. Aliases and adapters do so rightly, so it is no error.
func (p *Preflight) servedAs(name string) {
	if name == "" || name == p.Model || p.ServedModel != "" {
		return
	}
	p.ServedModel = name
	p.Warnings = append(p.Warnings, fmt.Sprintf("the model asked for is %s, and an answer says that it is of %s: an alias or an adapter may say so; else something on the way sends requests to another model, and the numbers are its", p.Model, name))
}

// shownModels bounds a list in a message.
const shownModels = 10

func listed(models []string) string {
	if more := len(models) - shownModels; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(models[:shownModels], ", "), more)
	}
	return strings.Join(models, ", ")
}

func modelsFailure(err error, base string, secrets []string, answered int) error {
	text := cleanText(err.Error(), secrets...)
	status := 0
	var api *openai.APIError
	var request *openai.RequestError
	var late *connectTimeout
	switch { // a RequestError may wrap an APIError without a status
	case errors.As(err, &request):
		status = request.HTTPStatusCode
	case errors.As(err, &api):
		status = api.HTTPStatusCode
	}
	if scheme := otherScheme(err, base, text); scheme != "" && (answered == 0 || answered == http.StatusBadRequest) {
		return fmt.Errorf("no answer from %s that can be used: %s (%s)", base, scheme, text)
	}
	switch {
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		return &noListError{"the server has no /v1/models: name the model and check the URL (without /v1 and what follows it)"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the server wants an API key, or another one: %s", text)
	case status != 0:
		return fmt.Errorf("listing the models failed: %s", text)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("listing the models was interrupted: %w", context.Canceled)
	case errors.As(err, &late): // which is a deadline too, but another one
	case errors.Is(err, context.DeadlineExceeded) && answered == 0:
		return fmt.Errorf("no answer from %s to GET /v1/models within %v: is this the server's own port, and is it ready?", base, modelsTimeout)
	case certificate(err):
		return fmt.Errorf("%s: %s; name the authority that signed the server's certificate (--ca-file), or the host that the certificate is for", base, text)
	case answered != 0:
		return fmt.Errorf("%s/v1/models answered status %d without a list of models: %s; is this the address of the server itself?", base, answered, text)
	}
	return fmt.Errorf("no answer from %s: %s; is the server up and the address right?", base, text)
}

// certificate reports that this side did not believe the server's certificate.
func certificate(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}
