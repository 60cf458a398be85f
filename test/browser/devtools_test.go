//go:build browser

package browser

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is for a browser that hangs; no answer takes a hundredth of it.
const patience = 60 * time.Second

// chromium is a headless browser driven over its DevTools pipe: messages of
// JSON, each ended by a zero byte, on file descriptors 3 and 4.
type chromium struct {
	t   *testing.T
	in  *os.File
	got chan message
	// session is the one page.
	session string
	id      int
	// complaints are what the page's console, the log and uncaught errors said,
	// loads the addresses that it asked for.
	complaints, loads []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// start runs a browser with one empty page, until the test ends.
func start(t *testing.T) *chromium {
	t.Helper()
	toIt, in, err := os.Pipe()
	check(t, err)
	out, fromIt, err := os.Pipe()
	check(t, err)
	// --no-sandbox: the suite also runs as root, where Chromium has no sandbox.
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toIt, fromIt}
	check(t, cmd.Start())
	check(t, toIt.Close())
	check(t, fromIt.Close())
	c := &chromium{t: t, in: in, got: make(chan message, 1024)}
	go c.read(out)
	t.Cleanup(func() {
		c.send("", "Browser.close", nil)
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // how it ends says nothing of the page
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = in.Close()
		_ = out.Close()
	})
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	c.call("Target.getTargets", nil, &targets)
	for _, i := range targets.TargetInfos {
		if i.Type == "page" {
			var s struct{ SessionID string }
			c.call("Target.attachToTarget", map[string]any{"targetId": i.TargetID, "flatten": true}, &s)
			c.session = s.SessionID
			break
		}
	}
	if c.session == "" {
		t.Fatal("the browser has no page")
	}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *chromium) read(out *os.File) {
	defer close(c.got)
	for r := bufio.NewReader(out); ; {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(b[:len(b)-1], &m) == nil {
			c.got <- m
		}
	}
}

func (c *chromium) send(session, method string, params any) int {
	c.id++
	b, err := json.Marshal(map[string]any{"id": c.id, "method": method, "params": params, "sessionId": session})
	if session == "" {
		b, err = json.Marshal(map[string]any{"id": c.id, "method": method, "params": params})
	}
	check(c.t, err)
	_, _ = c.in.Write(append(b, 0)) // a browser that is gone is noticed where its answer is awaited
	return c.id
}

// call sends a command and reads its answer.
func (c *chromium) call(method string, params, result any) {
	c.t.Helper()
	if params == nil {
		params = struct{}{}
	}
	id := c.send(c.session, method, params)
	c.until(method, func(m message) bool {
		if m.ID != id {
			return false
		}
		if m.Error != nil {
			c.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			check(c.t, json.Unmarshal(m.Result, result))
		}
		return true
	})
}

// until reads messages up to the awaited one, and keeps what a reader would
// find in the console.
func (c *chromium) until(what string, done func(message) bool) {
	c.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case m, open := <-c.got:
			if !open {
				c.t.Fatalf("the browser ended while %s was awaited", what)
			}
			c.note(m)
			if done(m) {
				return
			}
		case <-limit:
			c.t.Fatalf("no answer to %s within %v", what, patience)
		}
	}
}

func (c *chromium) note(m message) {
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
		c.complaints = append(c.complaints, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(m.Params, &p) == nil {
			c.loads = append(c.loads, p.Request.URL)
		}
	}
}

// open loads a file and waits until it has loaded.
func (c *chromium) open(path string) {
	c.t.Helper()
	c.complaints, c.loads = nil, nil
	id := c.send(c.session, "Page.navigate", map[string]any{"url": "file://" + path})
	answered, loaded := false, false
	c.until("the load of "+path, func(m message) bool {
		answered = answered || m.ID == id
		loaded = loaded || m.Method == "Page.loadEventFired"
		return answered && loaded
	})
}

// eval runs an expression in the page and reads its value.
func (c *chromium) eval(expression string, into any) {
	c.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, into); err != nil {
		c.t.Fatalf("%s gives %s: %v", expression, r.Result.Value, err)
	}
}

func (c *chromium) text(expression string) (s string) {
	c.t.Helper()
	c.eval(expression, &s)
	return s
}

// shot is a picture of the whole page.
func (c *chromium) shot() []byte {
	c.t.Helper()
	var r struct{ Data []byte }
	c.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &r)
	return r.Data
}

// screen sets the width of the window and the scheme, and waits until the page
// has drawn itself anew.
func (c *chromium) screen(width, height int, scheme string) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	var done bool
	c.eval("new Promise(r => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => r(true))), 400))", &done)
}
