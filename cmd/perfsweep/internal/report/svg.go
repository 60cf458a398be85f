package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
)

// PageSVG writes one chart as a picture that stands alone; id is that of a
// section of the page, such as throughput.
func PageSVG(out io.Writer, p Page, id string) error {
	var have []string
	for _, c := range p.charts() {
		if c.ID != id {
			have = append(have, c.ID)
			continue
		}
		b, err := c.SVG(markup.Raw(chartCSS))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", b)
		return err
	}
	return &NoChartError{ID: id, Have: have}
}

// NoChartError says that a report has no such chart.
type NoChartError struct {
	ID   string
	Have []string
}

func (e *NoChartError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("there is no chart %q: no run was measured yet", e.ID)
	}
	return fmt.Sprintf("there is no chart %q of this journal; it has %s", e.ID, strings.Join(e.Have, ", "))
}
