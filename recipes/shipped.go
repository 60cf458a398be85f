package recipes

import (
	"embed"
	"fmt"
)

//go:embed overlays/*.yaml
var shippedFiles embed.FS

// Shipped are the overlays that come with this package, by name.
func Shipped() ([]*Overlay, error) {
	const folder = "overlays"
	entries, err := shippedFiles.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the shipped overlays: %w", err)
	}
	var out []*Overlay
	for _, e := range entries {
		path := folder + "/" + e.Name()
		src, err := shippedFiles.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the shipped overlays: %w", err)
		}
		o, err := Parse(path, src)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}
