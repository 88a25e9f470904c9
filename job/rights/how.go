package rights

// How says by what an identity was proved.
type How string

// The ways to prove an identity.
const (
	BySession How = "session" // a browser's cookie
	ByToken   How = "token"   // an API token
	ByLocal   How = "local"   // being on the machine of a `carillon dev`
)
