#!/bin/sh
# Builds the samples with clang and lld, LLVM 19.
set -e
cd "$(dirname "$0")"
build() {
    out=$1; shift
    clang-19 --target=hexagon-unknown-elf -mcpu=hexagonv73 -mhvx -mhvx-length=128B -g -fdebug-prefix-map="$PWD=." -ffile-prefix-map="$PWD=." -fPIC -ffreestanding "$@" -c sample.c -o "$out.o"
    ld.lld-19 -shared --build-id=none "$out.o" -o "$out.so"
    rm "$out.o"
    llvm-objdump-19 -d --mcpu=hexagonv73 --mattr=+hvxv73,+hvx-length128b,+hvx-qfloat,+hvx-ieee-fp,+zreg "$out.so" | tail -n +4 > "$out.lst"
}
build first -O2
build second -O2 -fno-unroll-loops -DSECOND
