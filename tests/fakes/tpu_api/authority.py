# SPDX-License-Identifier: Apache-2.0
"""A certificate authority of the tests' own, and keys of service accounts."""
import pathlib
import subprocess

NAMES = ("IP:127.0.0.1,DNS:localhost,DNS:googleapis.com,DNS:*.googleapis.com,"
         "DNS:metadata.google.internal")


def openssl(*argv, stdin=None):
    return subprocess.run(["openssl", *map(str, argv)], input=stdin,
                          check=True, capture_output=True,
                          timeout=60).stdout


def make_authority(folder, names=NAMES):
    """(file of the authority, certificate, its key)."""
    folder = pathlib.Path(folder)
    ca, ca_key = folder / "authority.pem", folder / "authority.key"
    cert, key = folder / "server.pem", folder / "server.key"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *curve, "-days", "2", "-subj",
            "/CN=muster tests", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign", "-out", ca,
            "-keyout", ca_key)
    request = openssl("req", *curve, "-subj", "/CN=fake", "-keyout", key)
    extensions = folder / "names.cnf"
    extensions.write_text(f"subjectAltName={names}\n"
                          "authorityKeyIdentifier=keyid\n"
                          "subjectKeyIdentifier=hash\n")
    openssl("x509", "-req", "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
            "-days", "2", "-extfile", extensions, "-out", cert, stdin=request)
    return str(ca), str(cert), str(key)


def make_key():
    """A key for RS256: (PKCS #8 in PEM, the public half in PEM)."""
    private = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt",
                      "rsa_keygen_bits:2048").decode()
    return private, openssl("pkey", "-pubout",
                            stdin=private.encode()).decode()


def signature_is_good(public, text, signature, folder):
    """Whether `signature` is RS256 of `text` by the key."""
    key = pathlib.Path(folder, "public.pem")
    key.write_text(public)
    file = pathlib.Path(folder, "signature")
    file.write_bytes(signature)
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", key, "-signature", file],
        input=text, capture_output=True, timeout=60, check=False)
    return done.returncode == 0
