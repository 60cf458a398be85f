package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
)

// context keeps a signature of a manifest from being one of anything else.
const context = "perfsweep bundle manifest 1\n"

const algorithm = "ed25519"

// signature is the part of that name. It covers the manifest, which has the hash
// of every other part.
type signature struct {
	Algorithm string `json:"algorithm"`
	PublicKey []byte `json:"public_key"`
	Signature []byte `json:"signature"`
}

// SignatureType is the type of the part of that name, for whoever publishes its
// schema.
func SignatureType() reflect.Type { return reflect.TypeFor[signature]() }

// SignatureState says what the signature of a bundle is worth.
type SignatureState string

// The states. A signature that holds proves no more than that the holder of some
// key made it, until the key is compared with one that is known: Trusted.
const (
	Unsigned SignatureState = "unsigned"
	Holds    SignatureState = "holds, by a key that was not compared (--key)"
	Trusted  SignatureState = "holds, by the key given"
	Missing  SignatureState = "missing, and a key was given"
	WrongKey SignatureState = "made by another key than the one given"
	Broken   SignatureState = "does not hold: the manifest is not the one that was signed"
)

// Good reports whether nothing speaks against the bundle.
func (s SignatureState) Good() bool { return s == Unsigned || s == Holds || s == Trusted }

func sign(manifest []byte, key ed25519.PrivateKey) ([]byte, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("signing a bundle: the key has no public half")
	}
	b, err := json.MarshalIndent(signature{algorithm, public, ed25519.Sign(key, append([]byte(context), manifest...))}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("signing a bundle: %w", err)
	}
	return append(b, '\n'), nil
}

// Signature checks the signature, against a key where one is given. by names the
// key that made it: the SHA-256 of its DER form.
func (b *Bundle) Signature(key ed25519.PublicKey) (state SignatureState, by string) {
	part := b.Part(SignatureName)
	switch {
	case part == nil && key != nil:
		return Missing, ""
	case part == nil:
		return Unsigned, ""
	}
	var s signature
	d := json.NewDecoder(bytes.NewReader(part))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || s.Algorithm != algorithm || len(s.PublicKey) != ed25519.PublicKeySize {
		return Broken, ""
	}
	again, err := json.MarshalIndent(s, "", "  ")
	if err != nil || !bytes.Equal(append(again, '\n'), part) {
		return Broken, "" // spelled otherwise: it could carry what is not signed
	}
	by = KeyID(s.PublicKey)
	switch {
	case key != nil && !key.Equal(ed25519.PublicKey(s.PublicKey)):
		return WrongKey, by
	case !ed25519.Verify(s.PublicKey, append([]byte(context), b.manifest...), s.Signature):
		return Broken, by
	case key != nil:
		return Trusted, by
	}
	return Holds, by
}

// KeyID names a public key: the SHA-256 of its DER form, in hex, as openssl pkey
// -pubin -outform DER | sha256sum prints it.
func KeyID(key ed25519.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// ParsePrivateKey reads an ed25519 key in PEM, PKCS#8. Its errors say nothing of
// what the file holds.
func ParsePrivateKey(b []byte) (ed25519.PrivateKey, error) {
	der, err := block(b, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if k, ok := key.(ed25519.PrivateKey); ok && err == nil {
		return k, nil
	}
	return nil, errors.New("it holds no ed25519 key in PKCS#8: make one with openssl genpkey -algorithm ed25519")
}

// ParsePublicKey reads an ed25519 public key in PEM.
func ParsePublicKey(b []byte) (ed25519.PublicKey, error) {
	der, err := block(b, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if k, ok := key.(ed25519.PublicKey); ok && err == nil {
		return k, nil
	}
	return nil, errors.New("it holds no ed25519 public key: openssl pkey -in KEY -pubout prints that of a private one")
}

func block(b []byte, kind string) ([]byte, error) {
	p, rest := pem.Decode(b)
	switch {
	case p == nil:
		return nil, fmt.Errorf("it is not in PEM: a block of type %s is wanted", kind)
	case p.Type != kind:
		return nil, fmt.Errorf("its PEM block is a %.40q, not a %s", p.Type, kind)
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("there is more after its PEM block")
	}
	return p.Bytes, nil
}
