package harness

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hexab/internal/fetch"
	"hexab/internal/models"
)

// fetchWorkspace is a workspace of its own with an NDK in its manifest, and a
// server that has the archive and a model.
func fetchWorkspace(t *testing.T) (w *Workspace, items []item, out *bytes.Buffer, asked *atomic.Int64) {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, body := range map[string]string{
		"ndk-x/source.properties":                   "Pkg.Desc = Android NDK\nPkg.Revision = 99.0.1\n",
		"ndk-x/build/cmake/android.toolchain.cmake": "# none\n",
	} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(body))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	model := append([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 100)...)
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body := map[string][]byte{"/ndk.zip": archive.Bytes(), "/m.gguf": model}[r.URL.Path]
		http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(body))
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(archive.Bytes())
	dir := t.TempDir()
	out = &bytes.Buffer{}
	w = &Workspace{Root: filepath.Join(dir, "root"), Cache: filepath.Join(dir, "cache"), Out: out, Err: &bytes.Buffer{}}
	w.Manifest = &models.Manifest{
		SDKs: []models.SDK{{
			Name: "ndk-x", Kind: kindNDK, URL: server.URL + "/ndk.zip", Bytes: int64(archive.Len()), SHA256: hex.EncodeToString(sum[:]),
			Root: "ndk-x", Licence: "strict", NeedsAcceptance: true,
		}},
		Models: []models.Model{{Alias: "m", Repo: "o/r", File: "m.gguf", Licence: "MIT"}},
	}
	items = []item{w.modelItem(&w.Manifest.Models[0]), w.sdkItem(&w.Manifest.SDKs[0])}
	items[0].request.URLs = []string{server.URL + "/m.gguf"}
	t.Setenv(EnvNDK, "")
	return w, items, out, asked
}

func TestFetchAsksForLicencesOnce(t *testing.T) {
	w, items, _, _ := fetchWorkspace(t)
	err := w.fetchItems(t.Context(), FetchOptions{}, items)
	var refused *LicenceError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "ndk-x (strict") || !strings.Contains(err.Error(), "-acceptLicences") {
		t.Fatalf("%v", err)
	}
	if !exists(items[0].request.Dest) || w.sdkReady(items[1].sdk) {
		t.Error("the model needs no acceptance, the SDK does")
	}
	if err := w.fetchItems(t.Context(), FetchOptions{AcceptLicences: true}, items); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.sdkDir(items[1].sdk)); err != nil {
		t.Fatal(err)
	}
	if err := w.fetchItems(t.Context(), FetchOptions{}, items); err != nil {
		t.Errorf("what was accepted is asked for again: %v", err)
	}
}

// A person is asked one question for all that is open, again after a no, and
// never after a yes. Who lets programs be installed without being asked has
// accepted no licence by that.
func TestLicencesAreAskedForOnce(t *testing.T) {
	w, items, _, _ := fetchWorkspace(t)
	items[0].licence.Needed = true
	w.install = true
	var refused *LicenceError
	if err := w.fetchItems(t.Context(), FetchOptions{}, items); !errors.As(err, &refused) || len(refused.Names) != 2 {
		t.Fatalf("%v", err)
	}
	answer, asked := false, 0
	w.person = func(string) bool { asked++; return answer }
	if err := w.fetchItems(t.Context(), FetchOptions{}, items); !errors.As(err, &refused) || asked != 1 {
		t.Fatalf("asked %d times: %v", asked, err)
	}
	answer = true
	for range 2 {
		if err := w.fetchItems(t.Context(), FetchOptions{}, items); err != nil || asked != 2 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
		if err := os.RemoveAll(w.sdkDir(items[1].sdk)); err != nil {
			t.Fatal(err)
		}
	}
	if said := w.Err.(*bytes.Buffer).String(); !strings.Contains(said, "ndk-x: strict") || !strings.Contains(said, "m: MIT") {
		t.Errorf("%s", said)
	}
}

func TestFetchedSDK(t *testing.T) {
	w, items, out, asked := fetchWorkspace(t)
	if _, ok, err := w.findKit(kindNDK); ok || err != nil {
		t.Fatalf("an NDK before it was fetched: %v", err)
	}
	if err := w.fetchItems(t.Context(), FetchOptions{AcceptLicences: true}, items); err != nil {
		t.Fatal(err)
	}
	k, ok, err := w.findKit(kindNDK)
	if err != nil || !ok || k.Root != filepath.Join(w.Cache, "sdks", "ndk-x", "ndk-x") {
		t.Fatalf("%+v, %v, %v", k, ok, err)
	}
	if exists(items[1].request.Dest) {
		t.Error("the archive is left")
	}
	before := asked.Load()
	for _, o := range []FetchOptions{{}, {Offline: true}} {
		out.Reset()
		if err := w.fetchItems(t.Context(), o, items); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		if text := out.String(); !strings.Contains(text, k.Root) || !strings.Contains(text, items[0].request.Dest) {
			t.Errorf("%+v: said %q", o, text)
		}
	}
	if n := asked.Load() - before; n != 0 {
		t.Errorf("%d requests for what is here", n)
	}
	if err := os.WriteFile(filepath.Join(k.Root, "source.properties"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(items[0].request.Dest, []byte("GGUF"), 0o644); err != nil {
		t.Fatal(err)
	}
	err = w.fetchItems(t.Context(), FetchOptions{Offline: true}, items)
	if err == nil || !strings.Contains(err.Error(), "was changed since it was unpacked") || !strings.Contains(err.Error(), "m.gguf") {
		t.Errorf("damage was not found: %v", err)
	}
}

func TestOwnNDK(t *testing.T) {
	w, _, _, _ := fetchWorkspace(t)
	own := t.TempDir()
	t.Setenv(EnvNDK, own)
	if _, _, err := w.findKit(kindNDK); err == nil || !strings.Contains(err.Error(), "android.toolchain.cmake") {
		t.Errorf("%v", err)
	}
	for name, body := range map[string]string{"build/cmake/android.toolchain.cmake": "", "source.properties": "Pkg.Revision = 28.0.7\n"} {
		at := filepath.Join(own, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(body), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	k, ok, err := w.findKit(kindNDK)
	if err != nil || !ok || !k.Own || k.Name != "Android NDK 28.0.7" {
		t.Errorf("%+v, %v, %v", k, ok, err)
	}
}

func TestDoctorTellsOfSDKsAndModels(t *testing.T) {
	w, items, _, _ := fetchWorkspace(t)
	w.Manifest.Models[0].ApproximateBytes = 2 << 30
	f := w.kitFinding(kindNDK)
	if f.state != stateFetch || !strings.Contains(f.text, "from 127.0.0.1") || !strings.Contains(f.text, "licence has to be accepted") {
		t.Errorf("%+v", f)
	}
	if f := w.kitFinding(kindHexagon); f.state != stateMissing {
		t.Errorf("%+v", f)
	}
	if m := w.modelFindings(); len(m) != 2 || m[1].state != stateFetch || !strings.Contains(m[1].text, "2.00 GiB") {
		t.Errorf("%+v", m)
	}
	if err := w.fetchItems(t.Context(), FetchOptions{AcceptLicences: true}, items); err != nil {
		t.Fatal(err)
	}
	if f := w.kitFinding(kindNDK); f.state != stateOK {
		t.Errorf("%+v", f)
	}
	if m := w.modelFindings(); len(m) != 2 || m[1].state != stateOK || m[1].name != "1 of 1 models" {
		t.Errorf("%+v", m)
	}
	t.Setenv(EnvNDK, t.TempDir())
	if f := w.kitFinding(kindNDK); f.state != stateMissing || !strings.Contains(f.text, "android.toolchain.cmake") {
		t.Errorf("%+v", f)
	}
}

func TestOwnHexagonSDK(t *testing.T) {
	w, _, _, _ := fetchWorkspace(t)
	own := filepath.Join(t.TempDir(), "6.5.0.0")
	put := func(name, text string) {
		at := filepath.Join(own, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("incs/remote.h", "")
	t.Setenv(EnvHexagonSDK, own)
	t.Setenv(EnvHexagonTools, "")
	if _, _, err := w.findKit(kindHexagon); err == nil || !strings.Contains(err.Error(), "ipc/fastrpc") {
		t.Errorf("%v", err)
	}
	put("ipc/fastrpc/qaic/bin/qaic", "")
	put("tools/HEXAGON_Tools/8.8/bin/x", "")
	put("tools/HEXAGON_Tools/19.0/bin/x", "")
	if _, _, err := w.findKit(kindHexagon); err == nil || !strings.Contains(err.Error(), "has 2 in tools/HEXAGON_Tools: name one in "+EnvHexagonTools) {
		t.Errorf("%v", err)
	}
	put("hexagon_sdk.json", `{"root": {"tools": {"info": [{"path": "tools/HEXAGON_Tools/19.0"}]}}}`)
	k, ok, err := w.findKit(kindHexagon)
	if err != nil || !ok || k.Name != "Hexagon SDK 6.5.0.0" || k.Tools != filepath.Join(own, "tools/HEXAGON_Tools/19.0") {
		t.Errorf("%+v, %v, %v", k, ok, err)
	}
}

func TestEventLines(t *testing.T) {
	e := fetch.Event{Name: "gemma-4-E2B-it-Q4_0-and-more.gguf", Phase: fetch.PhaseDownload, Bytes: 1 << 30, Total: 4 << 30, BytesPerSecond: 10 << 20, Left: 307 * time.Second}
	if got, want := eventLine(e), "download gemma-4-E2B-it-Q4_0-and-more.gguf: 1.00 GiB of 4.00 GiB, 10.0 MiB/s, about 5m7s left"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got, want := eventShort(e), "gemma-4-E2B-it-Q4_0-and… 25 % 10.0 MiB/s 5m7s"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := eventLine(fetch.Event{Name: "x", Phase: fetch.PhaseWait, Total: -1, Left: -1, Note: "503; trying again in 2s"}); got != "wait x (503; trying again in 2s)" {
		t.Errorf("%q", got)
	}
}
