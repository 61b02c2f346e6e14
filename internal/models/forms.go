package models

import (
	"encoding/base64"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Bounds of numbers in a manifest.
const (
	minModelBytes = 24      // the fixed part of a GGUF header
	maxBytes      = 1 << 42 // 4 TiB
	maxSeed       = 1<<53 - 1
)

// form is what a text must look like.
type form struct {
	name string // "..., which is not <name>"
	ok   func(string) bool
}

func pattern(name, expression string) form {
	return form{name, regexp.MustCompile(`^(?:` + expression + `)$`).MatchString}
}

// Names become parts of file names, command lines and URLs: their characters
// are chosen so that none ever needs quoting.
var (
	aliasForm        = pattern("a name of up to 64 of a-z, 0-9, dot, dash and underscore, that starts with a letter or digit", `[a-z0-9][a-z0-9._-]{0,63}`)
	repoForm         = pattern("a repository, owner/name", `[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}`)
	ggufForm         = pattern("the name of a .gguf file", `[A-Za-z0-9][A-Za-z0-9._+-]{0,190}\.gguf`)
	sha1Form         = pattern("a hash of 40 digits of 0-9 and a-f", `[0-9a-f]{40}`)
	sha256Form       = pattern("a SHA-256 of 64 digits of 0-9 and a-f", `[0-9a-f]{64}`)
	architectureForm = pattern("a GGUF architecture", `[a-z0-9][a-z0-9_-]{0,63}`)
	parametersForm   = pattern("a size such as 1.8B or E2B", `E?[0-9]{1,4}(\.[0-9]{1,2})?[MB]`)
	titleForm        = pattern("a name of up to 80 printing characters", `[A-Za-z0-9][A-Za-z0-9 .,()+/_-]{0,79}`)
	versionForm      = pattern("a version", `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`)
	sdkKindForm      = pattern("android-ndk or hexagon-sdk", `android-ndk|hexagon-sdk`)
	npmForm          = pattern("the name of an npm package", `(@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99}`)
	pathForm         = form{"a relative path that stays below its root", relativePath}
	urlForm          = form{"an https URL of a file, without user, query and fragment", fileURL}
	integrityForm    = form{"an integrity of the form sha512-<base64>", integrity}
)

var plainPath = regexp.MustCompile(`^[A-Za-z0-9@._+/-]{1,255}$`)

func relativePath(s string) bool {
	return plainPath.MatchString(s) && s == path.Clean(s) && s != "." && s[0] != '/' && s[0] != '-' &&
		s != ".." && !strings.HasPrefix(s, "../")
}

func fileURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= 500 && u.Scheme == "https" && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && u.Opaque == "" && u.RawPath == "" &&
		relativePath(strings.TrimPrefix(u.Path, "/")) && u.String() == s
}

func integrity(s string) bool {
	sum, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(s, "sha512-"))
	return err == nil && len(sum) == 64 && strings.HasPrefix(s, "sha512-") && !strings.ContainsAny(s, "\r\n")
}
