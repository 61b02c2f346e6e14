package harness

import (
	"fmt"
	"os"
	"strings"

	"hexab/internal/tiles"
)

// TilesShow draws a tiled weight format as text, and as a picture where a file
// is named.
func TilesShow(format, svg string) error {
	f, err := tiles.Find(strings.ToUpper(format))
	if err != nil {
		return &UsageError{err}
	}
	if svg != "" {
		if err := os.WriteFile(svg, []byte(f.SVG()), 0o644); err != nil {
			return unusable("svg", err)
		}
	}
	fmt.Print(f.Text())
	if svg != "" {
		fmt.Printf("\n%s written\n", svg)
	}
	return nil
}
