package loadgen

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// notes count what is odd about streams without making a failure of them.
type notes struct {
	ok       int64 // complete streams, of which
	noDone   int64 // came without [DONE]
	noFinish int64 // had no finish_reason
	byUsage  int64 // had neither, but ended right after their usage
	deformed int64 // events that were comments wrapped as data
	fell     int64 // streams whose usage went down
	choices  int64 // streams with a choice that was not asked for
}

func (n *notes) add(o notes) {
	n.ok += o.ok
	n.noDone += o.noDone
	n.noFinish += o.noFinish
	n.byUsage += o.byUsage
	n.deformed += o.deformed
	n.fell += o.fell
	n.choices += o.choices
}

// warnings say what was noted. A server that ends its streams in its own way
// does so always; two ways in one run are two servers, or one that changed.
func (n *notes) warnings() []string {
	var out []string
	add := func(count int64, text string) {
		if count > 0 {
			out = append(out, fmt.Sprintf("%d of %s ", count, plural.Of(n.ok, "answer"))+text)
		}
	}
	add(n.byUsage, "had neither a finish_reason nor [DONE] and "+plural.Verb(n.byUsage, "was taken as complete because it ended with its usage", "were taken as complete because they ended with their usage"))
	if n.noDone < n.ok {
		add(n.noDone, "ended without [DONE], the others with it: more than one kind of server answered")
	}
	if n.noFinish < n.ok {
		add(n.noFinish, "had no finish_reason, the others did: more than one kind of server answered")
	}
	add(n.fell, "counted fewer output tokens at "+plural.Verb(n.fell, "its", "their")+" end than before it: the last count was taken")
	add(n.choices, "had more than the one choice that was asked for")
	if n.deformed > 0 {
		out = append(out, plural.Of(n.deformed, "event")+plural.Verb(n.deformed, " was a comment wrapped as data and was skipped", " were comments wrapped as data and were skipped"))
	}
	return out
}

// notes are those of one stream that ended with the given outcome.
func (t *transcript) notes(o Outcome) notes {
	n := notes{deformed: t.malformed}
	if o != OK {
		return n
	}
	n.ok = 1
	n.noDone = one(!t.done)
	n.noFinish = one(t.finished == 0)
	n.byUsage = one(!t.done && t.finished == 0)
	n.fell = one(t.usageFell)
	n.choices = one(t.seen&^1 != 0)
	return n
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
