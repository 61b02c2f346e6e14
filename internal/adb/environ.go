package adb

import "os"

// Environ is the environment in which the client runs the adb program.
func (c *Client) Environ() []string {
	env := append(os.Environ(), "ADB_TRACE=", "ANDROID_SERIAL=")
	if c.Home != "" {
		env = append(env, "HOME="+c.Home)
	}
	return append(env, c.Env...)
}
