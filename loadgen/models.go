package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// bounded is the HTTP side of go-openai: our transport, no redirects, and a
// body that ends.
type bounded struct {
	t      http.RoundTripper
	secret string
}

func (b bounded) Do(r *http.Request) (*http.Response, error) {
	if b.secret == "" {
		r.Header.Del("Authorization") // go-openai sends an empty bearer token
	}
	resp, err := b.t.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxModelsBody), resp.Body}
	return resp, nil
}

// listModels asks for /v1/models.
func listModels(ctx context.Context, cfg *Config, base string, t http.RoundTripper) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	config := openai.DefaultConfig(cfg.APIKey)
	config.BaseURL = base + "/v1"
	config.HTTPClient = bounded{t, cfg.APIKey}
	list, err := openai.NewClientWithConfig(config).ListModels(ctx)
	if err != nil {
		return nil, modelsFailure(err, base, cfg.APIKey)
	}
	var names []string
	for _, m := range list.Models {
		if m.ID != "" {
			names = append(names, cleanText(m.ID, cfg.APIKey))
		}
	}
	return names, nil
}

func modelsFailure(err error, base, secret string) error {
	text := cleanText(err.Error(), secret)
	status := 0
	var api *openai.APIError
	var request *openai.RequestError
	switch { // a RequestError may wrap an APIError without a status
	case errors.As(err, &request):
		status = request.HTTPStatusCode
	case errors.As(err, &api):
		status = api.HTTPStatusCode
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
	}
	return fmt.Errorf("no answer from %s: %s; is the server up and the address right?", base, text)
}
