// Package build makes bundles: one variant for one platform, with a manifest.
//
// A variant is data (backends/<name>/variant.yaml): components, each a CMake
// build of its own with its definitions, targets and outputs. The programs and
// the ggml and llama libraries are the components of the cpu variant; every
// other variant extends it and adds only its plug-ins and DSP libraries, so
// the files that all variants have in common are the same bytes.
//
// Components and bundles are kept in the cache by the hash of all that went
// into them. What is asked for twice is built once.
package build
