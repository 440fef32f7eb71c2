"""TLS for tables and HTTP: keys and certificates from PEM files, read again when told to.

The handshake is OpenSSL's; which principal a certificate is for, the principals file says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import NameOID
from OpenSSL import SSL, crypto
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.internet.ssl import CertificateOptions
from twisted.logger import Logger
from twisted.protocols.tls import TLSMemoryBIOProtocol
from zope.interface import implementer

from jackpotd.errors import ConfigError, Problem
from jackpotd.listen import TlsFiles

EXPIRES_SOON = timedelta(days=30)
"""How long before its end a certificate is warned of."""

TlsError = SSL.Error
"""With what a connection is lost where TLS fails, most often in its handshake."""

PrivateKey: TypeAlias = EllipticCurvePrivateKey | RSAPrivateKey | Ed25519PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a listener shows and trusts.

    `chain` is its certificate and then those of its issuers; `authorities` are those of clients'
    certificates, () where clients can't show one.
    """

    key: PrivateKey
    chain: tuple[x509.Certificate, ...]
    authorities: tuple[x509.Certificate, ...] = ()


def read_credentials(files: TlsFiles) -> Credentials:
    """Read the files of a listener. Raises ConfigError with every problem in them."""
    problems: list[Problem] = []
    key = _read_key(files.private_key, problems)
    chain = _read_certificates(files.certificate, problems)
    if files.chain is not None:
        chain += _read_certificates(files.chain, problems)
    authorities = _read_certificates(files.authority, problems) if files.authority else ()
    if key is not None and not problems and not _belong_together(key, chain[0]):
        message = f"this is not the certificate of the key in {files.private_key}"
        problems.append(_problem(files.certificate, message))
    if key is None or problems:
        raise ConfigError(problems)
    return Credentials(key=key, chain=chain, authorities=authorities)


def check(files: Iterable[TlsFiles], now: datetime) -> list[Problem]:
    """Return what is legal in the files of listeners, but won't do for long; `now` is in UTC.

    Raises ConfigError with every problem in any of them.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for each in files:
        try:
            credentials = read_credentials(each)
            _options(each, credentials)
        except ConfigError as error:
            problems += error.problems
        else:
            warnings += _warnings(each, credentials, now)
    if problems:
        raise ConfigError(problems)
    return list(dict.fromkeys(warnings))


@implementer(IOpenSSLServerConnectionCreator)
class ServerTls:
    """The TLS of one listener: 1.2 or newer, with what its files said when last read.

    A handshake gets what is newest; a connection goes on with what it began with. `now` is the
    time in UTC. Raises ConfigError if the files can't be used.
    """

    def __init__(self, files: TlsFiles, *, now: Callable[[], datetime]) -> None:
        self._files = files
        self._now = now
        self._options = self._read()

    def reload(self) -> None:
        """Read the files again; if they can't be used, what they said before holds."""
        try:
            self._options = self._read()
        except ConfigError as error:
            _log.error(
                "certificates can't be used, so TLS stays as it was:\n{problems}",
                problems=str(error),
            )

    def serverConnectionForTLS(self, protocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        """Begin the TLS of a new connection."""
        return self._options.serverConnectionForTLS(protocol)

    def _read(self) -> CertificateOptions:
        credentials = read_credentials(self._files)
        options = _options(self._files, credentials)
        _log.info(
            "{path} was read: valid until {until}",
            path=str(self._files.certificate),
            until=credentials.chain[0].not_valid_after_utc.isoformat(),
        )
        for warning in _warnings(self._files, credentials, self._now()):
            _log.warn("{warning}", warning=str(warning))
        return options


def common_name(certificate: crypto.X509) -> str:
    """Return the common name in a certificate; "", which names nobody, where it is not one."""
    names = certificate.to_cryptography().subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if len(names) == 1 else ""


def words_of(error: TlsError) -> str:
    """Return OpenSSL's words for what went wrong."""
    queue = error.args[0] if error.args else ()
    reasons = [str(each[-1]) for each in queue] if isinstance(queue, list | tuple) else []
    return "; ".join(reasons) or "no reason is given"


def _options(files: TlsFiles, credentials: Credentials) -> CertificateOptions:
    authorities = [*map(crypto.X509.from_cryptography, credentials.authorities)]
    # pyOpenSSL wants the objects of cryptography; Twisted hands them on, and its types don't know.
    key: Any = credentials.key
    chain: Any = credentials.chain
    options = CertificateOptions(
        privateKey=key,
        certificate=chain[0],
        extraCertChain=chain[1:],
        verify=bool(authorities),
        caCerts=authorities or None,
        # Whoever shows no certificate says a key.
        requireCertificate=False,
    )
    try:
        context = options.getContext()
    except SSL.Error as error:  # a key that is too short, for one
        message = f"OpenSSL refuses it: {words_of(error)}"
        raise ConfigError([_problem(files.certificate, message)]) from error
    # An authority need not be a root: the file says whom the property trusts, and no one above.
    store = context.get_cert_store()
    assert store is not None
    store.set_flags(crypto.X509StoreFlags.PARTIAL_CHAIN)
    return options


def _read_key(path: Path, problems: list[Problem]) -> PrivateKey | None:
    data = _read(path, problems)
    if data is None:
        return None
    try:
        # With a password of its own OpenSSL would ask for it on the terminal of the daemon.
        key = load_pem_private_key(data, password=None)
    except TypeError:
        problems.append(_problem(path, "the key has a password: store it without one"))
    except (ValueError, UnsupportedAlgorithm):
        problems.append(_problem(path, "there is no private key in PEM here"))
    else:
        if isinstance(key, PrivateKey):
            return key
        problems.append(_problem(path, "make an EC, RSA or Ed25519 key: others are not spoken"))
    return None


def _belong_together(key: PrivateKey, certificate: x509.Certificate) -> bool:
    try:
        return key.public_key() == certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False


def _read_certificates(path: Path, problems: list[Problem]) -> tuple[x509.Certificate, ...]:
    data = _read(path, problems)
    if data is None:
        return ()
    try:
        return tuple(x509.load_pem_x509_certificates(data))
    except ValueError:
        problems.append(_problem(path, "there is no certificate in PEM here"))
        return ()


def _read(path: Path, problems: list[Problem]) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError as error:
        problems.append(_problem(path, f"can't be read: {error.strerror}"))
        return None


def _warnings(files: TlsFiles, credentials: Credentials, now: datetime) -> Iterator[Problem]:
    yield from _dates(files.certificate, credentials.chain, now)
    if files.authority is not None:
        yield from _dates(files.authority, credentials.authorities, now)


def _dates(path: Path, found: Sequence[x509.Certificate], now: datetime) -> Iterator[Problem]:
    for each in found:
        name = each.subject.rfc4514_string() or "a certificate"
        since, until = each.not_valid_before_utc, each.not_valid_after_utc
        if now >= until:
            yield _problem(path, f"{name} has expired on {until:%Y-%m-%d}: replace it")
        elif now < since:
            yield _problem(path, f"{name} is valid from {since:%Y-%m-%d %H:%M} UTC on, not yet")
        elif until - now < EXPIRES_SOON:
            yield _problem(path, f"{name} expires on {until:%Y-%m-%d}: replace it in time")


def _problem(path: Path, message: str) -> Problem:
    return Problem(file=str(path), line=0, key="", message=message)


_log = Logger()
