// Package oidc signs people in at a provider of identities, by OpenID Connect: the
// authorization code flow with PKCE, state and nonce.
//
//	browser ──▶ Begin ──▶ the provider's page ──▶ Finish ──▶ auth.External
//
// A [Provider] asks for the provider's addresses and keys when it first needs them,
// and again while it has none: a provider that is away keeps no server from starting,
// and nobody with a password out. What it says is believed only of a token that the
// provider has signed for this client and this sign-in.
//
// The package does not know users: what their groups stand for is all that it says.
package oidc
