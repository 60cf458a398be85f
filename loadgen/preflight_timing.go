package loadgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
)

const (
	// The client's TTFT holds the network and the server's HTTP side on top of
	// the server's own: a difference up to this is no finding.
	timingSlackMS    = 5
	timingSlackShare = 0.10
	// timingProbe follows the last warm probe and, being odd, has a prompt of
	// full length.
	timingProbe = maxProbes | 1
)

// serverTiming asks once for the server's own TTFT and for the worker that served
// the request, as Dynamo's frontend tells them (nvext.timing, nvext.worker_id),
// and compares the client's TTFT of the same request. A server
// that refuses or ignores the field is as good as any; load never carries it,
// for other servers may refuse it. A field of that name that the user sends is
// left alone.
func (pr *prober) serverTiming() {
	const name = "nvext"
	own := pr.cfg.Network.Body
	if own[name] != nil {
		return
	}
	pr.cfg.Network.Body = maps.Clone(own)
	if pr.cfg.Network.Body == nil {
		pr.cfg.Network.Body = map[string]json.RawMessage{}
	}
	pr.cfg.Network.Body[name] = json.RawMessage(`{"extra_fields":["timing","worker_id"]}`)
	r, _, _ := pr.try(timingProbe)
	pr.cfg.Network.Body = own
	server := float64(pr.e.script.serverTTFT) / nsPerMS
	p := pr.p
	if r.outcome == OK {
		p.servedBy(pr.e.script.prefiller, pr.e.script.decoder)
	}
	if r.outcome != OK || server <= 0 || r.first == 0 {
		return
	}
	p.ServerTTFTMS, p.ClientTTFTMS = server, float64(r.ttft())/nsPerMS
	if p.timingDiffers() {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the server says that it took %.1f ms to the first token where %.1f ms were measured from here: TTFT in results holds what lies between, such as a proxy or the network", server, p.ClientTTFTMS))
	}
}

func (p *Preflight) timingDiffers() bool {
	return math.Abs(p.ClientTTFTMS-p.ServerTTFTMS) > timingSlackMS+timingSlackShare*p.ServerTTFTMS
}

func (p *Preflight) servedBy(prefiller, decoder uint64) {
	if decoder == 0 {
		return
	}
	p.WorkerID = strconv.FormatUint(decoder, 10)
	if prefiller != 0 && prefiller != decoder {
		p.PrefillWorkerID = strconv.FormatUint(prefiller, 10)
	}
}
