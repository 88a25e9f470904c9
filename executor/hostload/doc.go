// Package hostload says how busy the machine of an executor is, for executor.Config.HostLoad.
// It is a package of its own, so that who does not want it does not link gopsutil.
package hostload
