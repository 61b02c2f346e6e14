package harness

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interruptExit is the exit status of a command that a second signal ends at
// once.
const interruptExit = 1

// Interruptible gives a context that ends with the first SIGINT, SIGTERM or
// SIGHUP; a second one ends the process at once. mage's own handling of SIGINT
// is taken out of the way: it gives a target five seconds, and stopping a
// launch on a phone and taking its lock back may take longer. stop gives the
// signals back.
func Interruptible(ctx context.Context) (interruptible context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	claim(signals)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case s := <-signals:
			fmt.Fprintf(os.Stderr, "\n%s: stopping what runs on the device; once more ends at once\n", s)
			cancel(fmt.Errorf("signal %s", s))
		}
		// mage may have asked for the signal in the meantime.
		claim(signals)
		select {
		case <-done:
		case s := <-signals:
			fmt.Fprintf(os.Stderr, "%s: ended at once; the journal keeps all launches that are done\n", s)
			os.Exit(interruptExit)
		}
	}()
	return context.WithValue(ctx, claimKey{}, signals), func() {
		close(done)
		signal.Stop(signals)
		cancel(nil)
	}
}

type claimKey struct{}

// claim takes the signals from whoever asked for them before.
func claim(signals chan<- os.Signal) {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	signal.Reset(list...)
	signal.Notify(signals, list...)
}

// reclaim claims the signals again. mage starts a target and then asks for
// SIGINT, so the first claim may have come too early.
func reclaim(ctx context.Context) {
	if signals, ok := ctx.Value(claimKey{}).(chan os.Signal); ok {
		claim(signals)
	}
}
