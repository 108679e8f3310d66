package runfile

import "litmus/internal/digest"

// tokenLabel keeps the token apart from anything else that may be keyed by a
// manifest id.
const tokenLabel = "litmus token"

// Token is the idempotency token of an instance: BLAKE3 in keyed mode, the key
// the manifest's id, over the label and the instance id (digest.Keyed). All
// attempts of the instance carry it.
func Token(manifest digest.Hash, instance string) digest.Hash {
	return digest.Keyed(manifest, []byte(tokenLabel), []byte(instance))
}
