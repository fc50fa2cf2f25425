// SPDX-License-Identifier: Apache-2.0

// Writes what Go's own profiler has to say of this program: cpu.pprof and heap.pprof in the directory
// that is its argument. The CPU profile is long enough for samples on a busy machine: it goes on
// until this process has used a second of CPU time.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
)

// Does not grow, so all that keep() allocates is what it keeps.
var kept = make([][]byte, 0, 100)

//go:noinline
func spin(n uint64) uint64 {
	sum := uint64(0)
	for i := uint64(0); i < n; i++ {
		sum = sum*31 + i
	}
	return sum
}

//go:noinline
func keep(bytes int) { kept = append(kept, make([]byte, bytes)) }

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Sec) + float64(usage.Utime.Usec)/1e6
}

func create(name string) *os.File {
	file, err := os.Create(os.Args[1] + "/" + name)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	runtime.MemProfileRate = 1
	for i := 0; i < 100; i++ {
		keep(10000)
	}
	cpu := create("cpu.pprof")
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	for total := uint64(0); cpuSeconds() < 1; total += spin(1 << 20) {
	}
	pprof.StopCPUProfile()
	cpu.Close()
	heap := create("heap.pprof")
	if err := pprof.Lookup("heap").WriteTo(heap, 0); err != nil {
		panic(err)
	}
	heap.Close()
	runtime.KeepAlive(kept)
}
