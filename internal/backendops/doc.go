// Package backendops reads what llama.cpp's test-backend-ops prints: which
// cases of which operation passed, failed or are not supported, and how fast
// they ran.
//
// It reads the console form. The SQL form has more digits, but it is not
// flushed before a crash, and it leaves out a case whose tensors could not be
// allocated; the CSV form leaves out whether a case passed. The console form
// flushes as it goes and ends with counts and a list of failures, against
// which everything read is checked: a report that does not add up is an error,
// never a pass.
package backendops
