package loadgen

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// BadInputError is a mistake of the user, to be told apart from a failure of
// the world.
type BadInputError struct {
	Msg   string
	cause error // what the operating system said of a file
}

func (e *BadInputError) Error() string { return e.Msg }

// Unwrap is why a file could not be used, nil where it is about none.
func (e *BadInputError) Unwrap() error { return e.cause }

func badInput(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &BadInputError{Msg: err.Error(), cause: errors.Unwrap(err)}
}

// ParseBaseURL checks a target and returns it without a trailing slash or
// /v1. Credentials and query strings are refused, not stripped: they would
// reach journals and error texts of every library on the way. No error shows
// more of s than its scheme.
func ParseBaseURL(s string) (base string, err error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return "", badInput("the target is not a URL: write http://HOST:PORT or https://HOST[/BASE]")
	}
	switch {
	case u.User != nil:
		return "", badInput("the target URL holds credentials: give the URL without them and the key as the API key")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", badInput("the target has the scheme %q: write http://HOST:PORT or https://HOST[/BASE]", u.Scheme)
	case u.Hostname() == "":
		return "", badInput("the target URL names no host: write http://HOST:PORT or https://HOST[/BASE]")
	case strings.EqualFold(u.Hostname(), "http") || strings.EqualFold(u.Hostname(), "https"):
		return "", badInput("the target URL names its scheme as its host: write http://HOST:PORT or https://HOST[/BASE]")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", badInput("the target URL has a query or a fragment: give only http://HOST:PORT[/BASE]")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", badInput("the target URL has the port %s: ports are 1 to 65535", port)
		}
	}
	path := strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), "/v1")
	return u.Scheme + "://" + u.Host + strings.TrimRight(path, "/"), nil
}
