package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

func maker() Maker { return Maker{"v1", "linux/amd64"} }

func someParts() []Part {
	return []Part{{Proposal, []byte("{}\n")}, {Journal, []byte("a\nb\n")}, {Fingerprint, []byte("{}\n")}, {NumberedName(Anchors, 1), []byte("c\n")}, {NumberedName(Anchors, 0), []byte("d\n")}}
}

func testKey(b byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32)) }

func pack(t testing.TB, parts []Part, key ed25519.PrivateKey) []byte {
	t.Helper()
	b, err := Pack(maker(), parts, key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The order in which parts are given changes nothing, and what is read is what was
// packed.
func TestPackIsDeterministic(t *testing.T) {
	parts := someParts()
	a := pack(t, parts, testKey(1))
	parts[0], parts[3] = parts[3], parts[0]
	if !bytes.Equal(a, pack(t, parts, testKey(1))) {
		t.Error("another order of parts gives other bytes")
	}
	b, err := Read(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if !bytes.Equal(b.Part(p.Name), p.Content) {
			t.Errorf("%s reads %q", p.Name, b.Part(p.Name))
		}
	}
	if j := b.Journals(Anchors); len(j) != 2 || string(j[0].Content) != "d\n" || len(b.Journals(Scaling)) != 0 {
		t.Errorf("anchors %q", j)
	}
	if d := b.Damage(); len(d) > 0 || b.Manifest.Maker != maker() || !LooksLike(a) {
		t.Errorf("damage %v, made by %+v", d, b.Manifest.Maker)
	}
	for _, name := range []string{ManifestName, SignatureName, "../x", "anchors/1.jsonl", "journal.jsonl/", ""} {
		if _, err := Pack(maker(), []Part{{name, nil}}, nil); err == nil {
			t.Errorf("%q was packed", name)
		}
	}
	if _, err := Pack(maker(), append(someParts(), Part{Journal, nil}), nil); err == nil {
		t.Error("a part was packed twice")
	}
}

// zipped compresses what a hostile hand puts together.
func zipped(t testing.TB, plain []byte, bend func(*gzip.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if bend != nil {
		bend(z)
	}
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, headers ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadRefuses(t *testing.T) {
	good := pack(t, someParts(), nil)
	plain, err := unpack(good, maxUnpacked)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := manifestOf(maker(), nil)
	if err != nil {
		t.Fatal(err)
	}
	one := func(name string, content []byte) []byte {
		b, err := archive([]Part{{ManifestName, manifest}, {name, content}})
		if err != nil {
			t.Fatal(err)
		}
		return zipped(t, b, nil)
	}
	file := func(h tar.Header) []byte { return zipped(t, tarred(t, &h), nil) }
	// A bomb is not unpacked beyond the bound.
	if b, err := unpack(zipped(t, make([]byte, 1<<20), nil), 1<<10); err == nil || b != nil || !strings.Contains(err.Error(), "unpacks to more than 1024 bytes") {
		t.Errorf("a bomb gives %d bytes and %v", len(b), err)
	}
	for _, c := range []struct {
		name string
		file []byte
		says string
	}{
		{"nothing", nil, "gzip"},
		{"text", []byte("hello"), "gzip"},
		{"cut", good[:len(good)-9], "damaged"},
		{"bytes after it", append(bytes.Clone(good), 0), "after its end"},
		{"two streams", append(bytes.Clone(good), good...), "after its end"},
		{"too large", make([]byte, MaxFile+1), "of the largest"},
		{"a comment in the header", zipped(t, plain, func(z *gzip.Writer) { z.Comment = "x" }), "gzip header"},
		{"a name in the header", zipped(t, plain, func(z *gzip.Writer) { z.Name = "x" }), "gzip header"},
		{"no tar", zipped(t, bytes.Repeat([]byte("x"), 2000), nil), "archive is damaged"},
		{"an empty tar", zipped(t, tarred(t), nil), "no manifest"},
		{"traversal", one("../../etc/passwd", nil), "it holds"},
		{"an absolute name", one("/etc/passwd", nil), "it holds"},
		{"an unknown part", one("notes.txt", nil), "it holds"},
		{"the same part twice", one(ManifestName, manifest), "twice"},
		{"a link", file(tar.Header{Typeflag: tar.TypeSymlink, Name: Journal, Linkname: "/etc/passwd"}), "no plain file"},
		{"a hard link", file(tar.Header{Typeflag: tar.TypeLink, Name: Journal, Linkname: Proposal}), "no plain file"},
		{"a device", file(tar.Header{Typeflag: tar.TypeChar, Name: Journal}), "no plain file"},
		{"a folder", file(tar.Header{Typeflag: tar.TypeDir, Name: "anchors/"}), "it holds"},
		{"no manifest", file(tar.Header{Typeflag: tar.TypeReg, Name: Journal, Size: 3}), "no manifest"},
		{"an owner", file(tar.Header{Typeflag: tar.TypeReg, Name: ManifestName, Uid: 7}), "form that perfsweep writes"},
		{"extended headers", file(tar.Header{Typeflag: tar.TypeReg, Name: ManifestName, PAXRecords: map[string]string{"A.b": "c"}}), "form that perfsweep writes"},
		{"hidden after the end", zipped(t, append(bytes.Clone(plain), make([]byte, 512)...), nil), "form that perfsweep writes"},
	} {
		_, err := Read(c.file)
		var not *NotBundleError
		if !errors.As(err, &not) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestReadManifestIsStrict(t *testing.T) {
	good, err := manifestOf(maker(), []Part{{Fingerprint, nil}, {Journal, nil}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readManifest(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, says string }{
		{`"perfsweep-bundle"`, `"other"`, "format"},
		{`"schema_version": 1`, `"schema_version": 2`, "schema version"},
		{`"platform"`, `"platform2"`, "cannot be read"},
		{`"parts"`, `"more": 1, "parts"`, "cannot be read"},
		{`"parts"`, `"PARTS"`, "spelled"},
		{`{`, `{ `, "spelled"},
		{`"fingerprint.json"`, `"journal.jsonl"`, "lists"},
		{`"fingerprint.json"`, `"signature.json"`, "order"},
		{`"fingerprint.json"`, `"../x"`, "lists"},
		{"}\n", "}\n{}", "more after"},
	} {
		bent := strings.Replace(string(good), c.from, c.to, 1)
		if c.from == "}\n" {
			bent = string(good) + "{}"
		}
		if _, err := readManifest([]byte(bent)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s as %s: %v", c.from, c.to, err)
		}
	}
}

func TestSignature(t *testing.T) {
	key, other := testKey(1), testKey(2)
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	signed, err := Read(pack(t, someParts(), key))
	if err != nil {
		t.Fatal(err)
	}
	if state, by := signed.Signature(public(key)); state != Trusted || by != KeyID(public(key)) || len(by) != 64 {
		t.Errorf("%s by %s", state, by)
	}
	if state, _ := signed.Signature(public(other)); state != WrongKey {
		t.Error(state)
	}
	if state, _ := signed.Signature(nil); state != Holds {
		t.Error(state)
	}
	signed.manifest = bytes.Replace(signed.manifest, []byte("v1"), []byte("v2"), 1)
	for _, k := range []ed25519.PublicKey{nil, public(key)} {
		if state, _ := signed.Signature(k); state != Broken || state.Good() {
			t.Error(state)
		}
	}
	for i, p := range signed.parts {
		if p.Name == SignatureName {
			signed.parts[i].Content = append(p.Content, ' ')
		}
	}
	if state, _ := signed.Signature(nil); state != Broken {
		t.Errorf("spelled otherwise: %s", state)
	}
}

func TestKeys(t *testing.T) {
	key := testKey(1)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	in := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	if k, err := ParsePrivateKey(in("PRIVATE KEY", private)); err != nil || !k.Equal(key) {
		t.Error(err)
	}
	if k, err := ParsePublicKey(in("PUBLIC KEY", public)); err != nil || !k.Equal(key.Public()) {
		t.Error(err)
	}
	for what, b := range map[string][]byte{
		"nothing": nil, "no PEM": private, "the public half": in("PUBLIC KEY", public), "ECDSA": in("PRIVATE KEY", foreign),
		"another block": in("EC PRIVATE KEY", private), "junk": in("PRIVATE KEY", []byte("junk")), "two": append(in("PRIVATE KEY", private), in("PRIVATE KEY", private)...),
	} {
		if _, err := ParsePrivateKey(b); err == nil || strings.Contains(err.Error(), "junk") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := ParsePublicKey(in("PRIVATE KEY", private)); err == nil {
		t.Error("a private key passed for a public one")
	}
}

func TestCompare(t *testing.T) {
	same := `{"a": [1.5, {"b": "x"}], "c": {}, "d": []}`
	for _, c := range []struct{ was, field, recorded, computed string }{
		{`{"a": [1.5000000000000002, {"b": "x"}], "c": {}, "d": []}`, "a[0]", "1.5000000000000002", "1.5"},
		{`{"a": [1.5, {"b": 1}], "c": {}, "d": []}`, "a[1].b", "1", `"x"`},
		{`{"a": [1.5, {"b": "x"}], "c": {}}`, "d", "", "[]"},
		{`{"a": [1.5, {"b": "x"}, 2], "c": {}, "d": []}`, "a[2]", "2", ""},
		{`{"a": [1.5, {"b": "x"}], "c": {},"d": []}`, "(spelling)", "not as perfsweep writes it", "the same values"},
		{`{"a": [1.5, {"b": "x"}], "c": {}, "d": [], "d": []}`, "(spelling)", "not as perfsweep writes it", "the same values"},
	} {
		d, n := Compare("p", []byte(c.was), []byte(same))
		if len(d) != 1 || d[0] != (Difference{"p", c.field, c.recorded, c.computed}) || n != 4 {
			t.Errorf("%s: %v, %d leaves", c.was, d, n)
		}
	}
	if d, n := Compare("p", []byte(same), []byte(same)); len(d) != 0 || n != 4 {
		t.Error(d, n)
	}
	if d, _ := Compare("p", []byte("{"), []byte(same)); len(d) != 1 {
		t.Error(d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, someParts(), nil))
	f.Add(pack(f, someParts(), testKey(1)))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := Read(b)
		if err != nil {
			return
		}
		read.Damage()
		read.Signature(nil)
		if again, err := archive(read.parts); err != nil || len(again) == 0 {
			t.Errorf("what was read cannot be packed: %v", err)
		}
	})
}
