// Package rights says what somebody may do: roles in executor groups, and the grants that
// come with them. Package auth knows who somebody is.
package rights
