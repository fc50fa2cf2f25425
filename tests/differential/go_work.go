// SPDX-License-Identifier: Apache-2.0

// A Go program for the unwinders: goroutines and their stack growth, maps, sorting, a garbage
// collection, a recovered panic, so that runtime code on system stacks is met too.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
)

//go:noinline
func recurse(n int) int {
	var local [64]int
	local[n%64] = n
	if n == 0 {
		return local[0]
	}
	return recurse(n-1) + local[n%64]
}

func panicking(n int) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	var none []int
	return fmt.Sprint(none[n])
}

func main() {
	sums := make(chan int)
	for worker := 0; worker < 4; worker++ {
		go func(n int) { sums <- recurse(n * 300) }(worker)
	}
	words := map[string]int{}
	for i := 0; i < 2000; i++ {
		words[strings.Repeat(fmt.Sprint(i%71), 3)] += i
	}
	names := make([]string, 0, len(words))
	for name := range words {
		names = append(names, name)
	}
	sort.Strings(names)
	runtime.GC()
	total := 0
	for worker := 0; worker < 4; worker++ {
		total += <-sums
	}
	fmt.Fprintln(os.Stdout, total, names, panicking(total))
}
