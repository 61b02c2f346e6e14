package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/fetch"
	"hexab/internal/models"
	"hexab/internal/source"
)

// FetchOptions say what to provide and from where.
type FetchOptions struct {
	// Only is a list of models, sdks and llama.cpp; empty is all of them.
	Only string
	// From is a folder with files that were downloaded otherwise.
	From string
	// Offline forbids the network: what is here is read and verified.
	Offline bool
	// AcceptLicences answers the question of the licences beforehand.
	AcceptLicences bool
}

// The parts that can be fetched.
const (
	partModels = "models"
	partSDKs   = "sdks"
	partLlama  = "llama.cpp"
)

// item is one file to fetch, with what is done to it afterwards.
type item struct {
	name    string
	request fetch.Request
	licence licence
	sdk     *models.SDK // nil for a model
}

// Fetch provides the llama.cpp sources, the models and the SDKs, or verifies
// them. One that fails does not stop the others.
func Fetch(ctx context.Context, o FetchOptions) error {
	w, err := Open()
	if err != nil {
		return err
	}
	parts, err := fetchParts(o)
	if err != nil {
		return err
	}
	var errs []error
	if slices.Contains(parts, partLlama) {
		errs = append(errs, w.fetchSources(ctx, o))
	}
	var items []item
	if slices.Contains(parts, partModels) {
		for i := range w.Manifest.Models {
			items = append(items, w.modelItem(&w.Manifest.Models[i]))
		}
	}
	if slices.Contains(parts, partSDKs) {
		for _, kind := range []string{kindNDK, kindHexagon} {
			if s := w.defaultSDK(kind); s != nil {
				items = append(items, w.sdkItem(s))
			}
		}
	}
	if len(items) > 0 && ctx.Err() == nil {
		errs = append(errs, w.fetchItems(ctx, o, items))
	}
	return errors.Join(errs...)
}

func fetchParts(o FetchOptions) ([]string, error) {
	all := []string{partModels, partSDKs, partLlama}
	if o.From != "" {
		if info, err := os.Stat(o.From); err != nil || !info.IsDir() {
			return nil, usage("from: %s is no folder", o.From)
		}
	}
	if o.Only == "" {
		return all, nil
	}
	parts := strings.Split(o.Only, ",")
	for _, part := range parts {
		if !slices.Contains(all, part) {
			return nil, usage("only: %q is not one of %s", part, strings.Join(all, ", "))
		}
	}
	return parts, nil
}

func (w *Workspace) fetchSources(ctx context.Context, o FetchOptions) error {
	if w.Llama != "" {
		fmt.Fprintf(w.Out, "llama.cpp: your own, %s\n", w.Llama)
		return nil
	}
	var tree source.Tree
	err := fs.ErrNotExist
	if o.Offline {
		tree, err = source.Verify(w.pin(), w.Cache)
	}
	if errors.Is(err, fs.ErrNotExist) {
		tree, err = w.sources(ctx, source.Options{From: o.From, Offline: o.Offline})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "llama.cpp %s: %s\n", w.Manifest.LlamaCpp.Tag, tree.Dir)
	return nil
}

// downloads is a client with the workspace's lock file, tokens and progress.
func (w *Workspace) downloads() *fetch.Client {
	client := &fetch.Client{Lock: &fetch.LockFile{Path: filepath.Join(w.Root, "models.lock")}, Progress: w.fetchProgress()}
	client.Tokens = []fetch.Token{{EnvName: "HF_TOKEN", Hosts: []string{"huggingface.co"}}}
	return client
}

// modelItem is a model's file.
func (w *Workspace) modelItem(m *models.Model) item {
	return item{
		name: m.Alias,
		request: fetch.Request{
			Name: m.File, Key: m.Repo + "/" + m.File, URLs: m.URLs(), Size: m.Bytes, Estimate: m.ApproximateBytes, SHA256: m.SHA256,
			Dest: filepath.Join(w.Cache, "models", m.Alias, m.File), Validate: fetch.GGUF,
		},
		licence: licence{Name: m.Alias, Licence: m.Licence, Page: m.Page(), Needed: m.NeedsAcceptance},
	}
}

// fetchItems fetches files whose licences are accepted, and unpacks SDKs.
func (w *Workspace) fetchItems(ctx context.Context, o FetchOptions, items []item) error {
	client := w.downloads()
	client.Offline, client.From = o.Offline, o.From
	var refused error
	if !o.Offline { // what is on this machine was accepted when it came
		items, refused = w.accept(items, o.AcceptLicences)
	}
	requests, room := w.missing(items)
	if err := client.Room(room); err != nil {
		return errors.Join(err, refused)
	}
	if n, size := sizeOf(client, requests); n > 0 && !o.Offline {
		w.Note("%d files to get, about %s", n, size)
	}
	files, err := w.getOrVerify(ctx, client, requests)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted, what has arrived is kept: %w", context.Cause(ctx))
	}
	errs := []error{err, refused}
	for _, it := range items {
		at := files[it.request.Dest]
		if it.sdk != nil && (at != "" || w.sdkReady(it.sdk)) {
			if at, err = w.settleSDK(ctx, it.sdk, o.Offline); err != nil {
				errs = append(errs, err)
			}
		}
		if at == "" {
			at = "failed, see below"
		}
		fmt.Fprintf(w.Out, "%s: %s\n", it.name, at)
	}
	return errors.Join(errs...)
}

// getOrVerify gives the paths of the files that are right, by their places.
// Offline every file is read again.
func (w *Workspace) getOrVerify(ctx context.Context, client *fetch.Client, requests []fetch.Request) (map[string]string, error) {
	paths := map[string]string{}
	if !client.Offline {
		files, err := client.GetAll(ctx, requests)
		for i, f := range files {
			paths[requests[i].Dest] = f.Path
		}
		return paths, err
	}
	var errs []error
	for _, r := range requests {
		get := client.Get
		if exists(r.Dest) {
			get = client.Verify
		}
		f, err := get(ctx, r)
		paths[r.Dest] = f.Path
		errs = append(errs, err)
	}
	return paths, errors.Join(errs...)
}

// missing are the requests of what is not here; room adds what SDKs unpack to.
func (w *Workspace) missing(items []item) (requests, room []fetch.Request) {
	for _, it := range items {
		if it.sdk != nil {
			if w.sdkReady(it.sdk) {
				continue
			}
			room = append(room, fetch.Request{Dest: w.sdkDir(it.sdk), Estimate: unpackedSize(it.sdk)})
		}
		requests = append(requests, it.request)
	}
	return requests, append(room, requests...)
}

// sizeOf counts what is missing of the requests.
func sizeOf(client *fetch.Client, requests []fetch.Request) (n int, size bench.Bytes) {
	for _, r := range requests {
		if missing := client.Missing(r); missing > 0 {
			n++
			size += bench.Bytes(missing)
		}
	}
	return n, size
}
