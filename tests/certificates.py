"""Authorities and certificates, made anew for each test: none of them is kept anywhere."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = timedelta(days=1)


def pem_of(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    """Return a private key in PEM."""
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """A certificate and its key; `issuer` has signed it, None if it was signed by itself."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    issuer: Certified | None = None

    @property
    def serial(self) -> int:
        """The serial number, by which a certificate is told from another."""
        return self.certificate.serial_number

    @property
    def certificate_pem(self) -> bytes:
        """The certificate alone."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def chain_pem(self) -> bytes:
        """The certificate, and then those of its issuers."""
        return self.certificate_pem + (self.issuer.chain_pem if self.issuer else b"")

    @property
    def key_pem(self) -> bytes:
        """The key alone."""
        return pem_of(self.key)

    def write(self, folder: Path, name: str = "") -> Path:
        """Write NAMEkey.pem and NAMEcert.pem into a folder, and return it."""
        folder.mkdir(exist_ok=True)
        (folder / f"{name}key.pem").write_bytes(self.key_pem)
        (folder / f"{name}cert.pem").write_bytes(self.certificate_pem)
        return folder

    def write_both(self, path: Path) -> Path:
        """Write certificate, those of its issuers, and key into one file, as for a client."""
        path.write_bytes(self.chain_pem + self.key_pem)
        return path


def certify(
    *names: str,
    by: Certified | None = None,
    authority: bool = False,
    days: tuple[int, int] = (-1, 365),
    usage: x509.ObjectIdentifier | None = None,
) -> Certified:
    """Make a certificate with these common names, signed `by` an authority or by itself.

    `days` are its first and its last, counted from now; `usage` is the one that it is for.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * DAY)
        .not_valid_after(now + days[1] * DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    signed = builder.sign(by.key if by else key, hashes.SHA256())
    return Certified(certificate=signed, key=key, issuer=by)


CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
SERVER = ExtendedKeyUsageOID.SERVER_AUTH


def client_context(shown: Path | None = None) -> ssl.SSLContext:
    """Return the TLS of a client that takes any server, and may show a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if shown is not None:
        context.load_cert_chain(shown)
    return context


def serial_in(der: bytes | None) -> int:
    """Return the serial number of a certificate that a peer has shown."""
    assert der is not None
    return x509.load_der_x509_certificate(der).serial_number
