"""The files of TLS: what they may say, what is said of them, and that they can be replaced."""

# mypy: allow-untyped-calls
# (pyOpenSSL's errors have no annotations.)

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa, x25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from OpenSSL import crypto

from jackpotd.errors import ConfigError
from jackpotd.listen import TlsFiles
from jackpotd.tls import TlsError, check, common_name, read_credentials, words_of
from tests.certificates import certify, pem_of
from tests.jackpotd.table_port import Port, hello
from tests.jackpotd.tls_port import (
    NO_KEY,
    NOW,
    Credentials,
    Logged,
    TlsPeer,
    connected,
    credentials,
    logs,
    server,
)


@pytest.fixture
def house(tmp_path: Path) -> Credentials:
    return credentials(tmp_path)


@pytest.fixture
def logged() -> Iterator[Logged]:
    with logs() as found:
        yield found


@pytest.mark.parametrize("names", [(), ("a", "b")])
def test_none_or_several_common_names_are_nobodys(names: tuple[str, ...]) -> None:
    assert common_name(crypto.X509.from_cryptography(certify(*names).certificate)) == ""
    assert common_name(crypto.X509.from_cryptography(certify("a b").certificate)) == "a b"


def test_the_chain_is_shown_from_either_file(
    port: Port, house: Credentials, tmp_path: Path
) -> None:
    """A client that knows only the root sees the whole way to it."""
    between = certify("between", by=house.authority, authority=True)
    own = certify("riverside", by=between)
    own.write(tmp_path / "tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=house.authority.certificate_pem.decode())
    with pytest.raises(ssl.SSLCertVerificationError):
        TlsPeer(port, house.server(), context).handshake()
    chain = tmp_path / "chain.pem"
    chain.write_bytes(between.certificate_pem)
    assert TlsPeer(port, server(replace(house.files, chain=chain)), context).handshake()
    house.files.certificate.write_bytes(own.certificate_pem + between.certificate_pem)
    assert TlsPeer(port, house.server(), context).handshake().serial == own.serial


# Files that are replaced


def test_a_new_handshake_gets_the_new_certificate_and_an_old_connection_goes_on(
    port: Port, house: Credentials, logged: Logged
) -> None:
    tls = house.server()
    old = connected(port, tls)
    replacement = certify("riverside")
    replacement.write(house.files.private_key.parent)
    assert connected(port, tls).serial == house.own.serial
    tls.reload()
    new = connected(port, tls)
    assert new.serial == replacement.serial
    assert old.ask(hello("fcp-01"))[0]["type"] == "welcome"
    assert new.ask(hello("lir-02"))[0]["type"] == "welcome"
    assert [each for each in logged() if "was read" in each][1].startswith(
        str(house.files.certificate)
    )


def test_another_authority_holds_from_the_next_handshake_on(
    port: Port, house: Credentials, tmp_path: Path
) -> None:
    tls = house.server()
    other = certify("New tables", authority=True)
    house.authority_file.write_bytes(other.certificate_pem)
    tls.reload()
    shown = certify("fcp-01", by=other).write_both(tmp_path / "shown.pem")
    client = connected(port, tls, shown)
    assert client.ask(NO_KEY)[0]["type"] == "welcome"
    shown = certify("fcp-01", by=house.authority).write_both(tmp_path / "shown.pem")
    late = connected(port, tls, shown)
    with pytest.raises(ssl.SSLError):
        late.ask(NO_KEY)


def broken_files(files: TlsFiles) -> dict[str, tuple[Path, bytes | None, str]]:
    """Return what may be wrong: a file, its bytes (None: there is none), and what is said."""
    assert files.authority is not None
    other = certify("other")
    x = x25519.X25519PrivateKey.generate()
    strange = x.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return {
        "no key": (files.private_key, None, "can't be read: No such file"),
        "no certificate": (files.certificate, None, "can't be read: No such file"),
        "no authority": (files.authority, None, "can't be read: No such file"),
        "an empty key": (files.private_key, b"", "no private key in PEM"),
        "half a key": (files.private_key, other.key_pem[:90], "no private key in PEM"),
        "a key with a password": (files.private_key, pem_of(other.key, b"x"), "has a password"),
        "a key that signs nothing": (files.private_key, strange, "make an EC, RSA or Ed25519 key"),
        "another's key": (files.private_key, other.key_pem, "not the certificate of the key"),
        "an empty certificate": (files.certificate, b"", "no certificate in PEM"),
        "half a certificate": (
            files.certificate,
            other.certificate_pem[:200],
            "no certificate in PEM",
        ),
        "another's certificate": (
            files.certificate,
            other.certificate_pem,
            "not the certificate of the key",
        ),
        "an authority that is a key": (files.authority, other.key_pem, "no certificate in PEM"),
    }


BROKEN = list(broken_files(TlsFiles(private_key=Path(), certificate=Path(), authority=Path())))


@pytest.mark.parametrize("which", BROKEN)
def test_files_that_can_not_be_used_are_named_and_what_was_before_holds(
    port: Port, house: Credentials, logged: Logged, which: str
) -> None:
    tls = house.server()
    path, data, words = broken_files(house.files)[which]
    path.unlink() if data is None else path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        read_credentials(house.files)
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.file in (str(house.files.certificate), str(path))
    tls.reload()
    assert "TLS stays as it was" in logged()[-1]
    assert str(problem) in logged()[-1]
    client = connected(port, tls)
    assert client.serial == house.own.serial
    assert client.ask(hello("fcp-01"))[0]["type"] == "welcome"
    with pytest.raises(ConfigError):
        house.server()


def test_a_key_that_openssl_finds_too_short_is_named(house: Credentials) -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    weak = certify("riverside")
    signed = (
        x509.CertificateBuilder()
        .subject_name(weak.certificate.subject)
        .issuer_name(weak.certificate.subject)
        .public_key(short.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=99))
        .sign(short, hashes.SHA256())
    )
    house.files.certificate.write_bytes(signed.public_bytes(Encoding.PEM))
    house.files.private_key.write_bytes(
        short.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    with pytest.raises(ConfigError, match="OpenSSL refuses it"):
        check([house.files], NOW)


def test_every_listeners_problems_are_said_at_once(house: Credentials, tmp_path: Path) -> None:
    other = TlsFiles(private_key=tmp_path / "a.pem", certificate=tmp_path / "b.pem")
    house.files.certificate.write_bytes(b"")
    with pytest.raises(ConfigError) as caught:
        check([house.files, other], NOW)
    assert [each.file for each in caught.value.problems] == [
        *map(str, (house.files.certificate, other.private_key, other.certificate))
    ]


@pytest.mark.parametrize(
    ("days", "words"),
    [
        ((-90, -1), "has expired on"),
        ((-90, 29), "expires on"),
        ((1, 90), "not yet"),
    ],
)
def test_a_certificate_that_does_not_hold_for_long_is_warned_of(
    house: Credentials, logged: Logged, days: tuple[int, int], words: str
) -> None:
    certify("riverside", days=days).write(house.files.private_key.parent)
    (warning,) = check([house.files, house.files], NOW)
    assert warning.file == str(house.files.certificate)
    assert words in warning.message
    house.server()
    assert logged()[-1] == str(warning)


def test_a_certificate_for_the_next_month_brings_no_warning(house: Credentials) -> None:
    certify("riverside", days=(-90, 31)).write(house.files.private_key.parent)
    assert check([house.files], NOW) == []


def test_an_authority_that_ends_is_warned_of(house: Credentials) -> None:
    ending = certify("Riverside tables", authority=True, days=(-90, -1))
    house.authority_file.write_bytes(ending.certificate_pem)
    (warning,) = check([house.files], NOW)
    assert (warning.file, "has expired" in warning.message) == (str(house.authority_file), True)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TlsError([("SSL routines", "", "wrong version number")]), "wrong version number"),
        (TlsError([("a", "", "one"), ("b", "", "two")]), "one; two"),
        (TlsError(-1, "Unexpected EOF"), "no reason is given"),
        (TlsError(), "no reason is given"),
    ],
)
def test_what_openssl_says_is_said_in_its_words(error: TlsError, words: str) -> None:
    assert words_of(error) == words
