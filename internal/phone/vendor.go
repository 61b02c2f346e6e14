package phone

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// vendorFolder is where a phone keeps its vendor's libraries, such as
// libcdsprpc.so.
const vendorFolder = "/vendor/lib64"

// installVendor puts the vendor's files in place.
func (p *Phone) installVendor() error {
	if err := p.files.root.RemoveAll(local(vendorFolder)); err != nil {
		return err
	}
	if err := p.files.root.MkdirAll(local(vendorFolder), 0o755); err != nil {
		return err
	}
	for _, file := range p.config.Vendor {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("phone: vendor file: %w", err)
		}
		if err := p.files.replace(vendorFolder+"/"+filepath.Base(file), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

const libraryPath = "LD_LIBRARY_PATH="

// findVendor lets programs of a command find the vendor's libraries. A phone's
// linker always looks into the vendor's folder too; this machine's only looks
// where LD_LIBRARY_PATH says, so the folder is put before what a command
// assigns.
func (p *Phone) findVendor(command string) string {
	if len(p.config.Vendor) == 0 {
		return command
	}
	folder := p.paths.link + vendorFolder
	var b strings.Builder
	for {
		before, after, found := strings.Cut(command, libraryPath)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(libraryPath)
		if before == "" || !isNameByte(before[len(before)-1]) {
			b.WriteString(folder)
			b.WriteByte(':')
		}
		command = after
	}
}
