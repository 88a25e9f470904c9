// Command release builds what a release consists of, and signs it.
//
//	release build [-snapshot]       build everything into dist
//	release build -here             build what is for this machine, and the files of deploy
//	release verify [-key FILE] DIR  check what a release has: checksums, signature, programs
//	release sign FILE SIGNATURE     sign a file
//	release attest CHECKSUMS FILE   write a signed statement of how the files were built
//
// GoReleaser (.goreleaser.yaml) builds archives, packages, SBOMs and checksums, and calls
// sign and attest. Before it, build makes what GoReleaser cannot make without a container
// engine: an OCI archive of the server's image for amd64 and arm64, and the files of deploy,
// which name that image by its digest.
//
// The key is an Ed25519 key in PEM (PKCS #8), in the variable CARILLON_RELEASE_KEY. Everybody
// can check a signature with OpenSSL:
//
//	openssl pkeyutl -verify -pubin -inkey carillon.pub -rawin -in checksums.txt -sigfile checksums.txt.sig
//
// The statement is SLSA provenance, version 1, in an in-toto statement in a DSSE envelope.
package main
