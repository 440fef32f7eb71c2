"""Where the daemon listens, and with which TLS: what a configuration may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from jackpotd.listen import EXAMPLE, Listener, TlsFiles, fault
from tests.certificates import certify
from tests.jackpotd.test_config import SAMPLE, load, problems

LINE = SAMPLE.count("\n") + 1
SSL = "ssl:7011:privateKey=tls/key.pem:certKey=tls/cert.pem"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a configuration, with its certificate in tls/."""
    certify("riverside").write(tmp_path / "tls")
    return tmp_path


def test_without_a_word_connections_without_tls_are_this_hosts(folder: Path) -> None:
    loaded = load(folder, SAMPLE)
    assert (loaded.tables_tls, loaded.http_tls) == (None, None)
    assert loaded.without_tls == "this host"


def test_the_files_of_tls_are_beside_the_configuration(folder: Path) -> None:
    (folder / "chain.pem").touch()
    (folder / "clients.pem").touch()
    loaded = load(
        folder,
        f"{SAMPLE}tables_listen: {SSL}\nclient_authority: clients.pem\n"
        f"http_listen: ssl:8011:{folder}/tls/key.pem:extraCertChain=chain.pem\n",
    )
    assert loaded.tables_listen == SSL
    assert loaded.tables_tls == TlsFiles(
        private_key=folder / "tls" / "key.pem",
        certificate=folder / "tls" / "cert.pem",
        authority=folder / "clients.pem",
    )
    assert loaded.http_tls == TlsFiles(
        private_key=folder / "tls" / "key.pem",
        certificate=folder / "tls" / "key.pem",
        chain=folder / "chain.pem",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tables_listen: ssl:7011", "no privateKey is given"),
        ("tables_listen: 'ssl:7011:'", "no privateKey is given"),
        ("tables_listen: ssl:70111:privateKey=tls/key.pem", "'70111' is no port"),
        (f"tables_listen: {SSL}:interface=localhost", "no address of an interface"),
        (f"tables_listen: {SSL}:backlog=0", "'0' is no backlog"),
        (f"tables_listen: {SSL}:backlog=some", "'some' is no backlog"),
        (f"tables_listen: {SSL}:sslmethod=TLSv1_METHOD", "'sslmethod' is none of port, privateKey"),
        (f"tables_listen: {SSL}:dhParameters=dh.pem", "'dhParameters' is none of port, privateKey"),
        ("http_listen: ssl:1:tls/key.pem:tls/cert.pem:TLSv1_METHOD", "arguments that are none of"),
        ("tables_listen: tls:tls:7011", "'tls' is no kind of listener: tcp, tcp6, ssl, unix"),
        ("tables_listen: ssl:7011:privateKey=no/key.pem", "/no/key.pem is not there"),
        ("tables_listen: ssl:7011:tls/key.pem/x:tls/cert.pem", "/tls/key.pem/x is not there"),
        ("http_listen: ssl:7011:tls/key.pem:certKey=no.pem", "/no.pem is not there"),
        (f"http_listen: {SSL}:extraCertChain=no.pem", "/no.pem is not there"),
        ("client_authority: tls/cert.pem", "only a tables_listen with TLS sees certificates"),
        ("client_authority: [tls/cert.pem]", "one text is wanted here"),
        ("without_tls: somewhere", "somewhere is none of this host, any host"),
        ("without_tls: yes", "in quotes"),
    ],
)
def test_what_is_no_right_listener_is_said_at_its_line(folder: Path, line: str, words: str) -> None:
    (found,) = problems(folder, f"{SAMPLE}{line}\n")
    assert (found.line, found.key) == (LINE, line.partition(":")[0])
    assert words in found.message


def test_an_authority_that_is_not_there_is_said(folder: Path) -> None:
    text = f"{SAMPLE}tables_listen: {SSL}\nclient_authority: tls/clients.pem\n"
    (found,) = problems(folder, text)
    assert (found.line, found.key) == (LINE + 1, "client_authority")
    assert f"{folder}/tls/clients.pem is not there" in found.message


def test_a_listener_with_a_fault_hides_no_other_and_makes_no_new_one(folder: Path) -> None:
    text = f"{SAMPLE}tables_listen: ssl:x\nhttp_listen: tcp:x\nclient_authority: no.pem\n"
    assert [each.line for each in problems(folder, text)] == [LINE, LINE + 1, LINE + 2]
    (found,) = problems(folder, f"{SAMPLE}tables_listen: ssl:x\nclient_authority: tls/cert.pem\n")
    assert found.line == LINE


@pytest.mark.parametrize("name", ["tables_listen", "http_listen"])
def test_tls_beyond_this_host_brings_no_warning(folder: Path, name: str) -> None:
    assert load(folder, f"{SAMPLE}{name}: {SSL}\n").warnings == ()


OPEN = ["tcp:7011", "tcp:7011:interface=10.0.0.1", "'tcp6:7011:interface=fd00\\:\\:2'"]


@pytest.mark.parametrize("text", OPEN)
def test_what_would_be_refused_is_warned_of(folder: Path, text: str) -> None:
    (warning,) = load(folder, f"{SAMPLE}tables_listen: {text}\n").warnings
    assert (warning.line, warning.key) == (LINE, "tables_listen")
    assert "connections from there are refused" in warning.message
    assert 'say "without_tls: any host"' in warning.message


@pytest.mark.parametrize("text", OPEN)
def test_what_is_let_in_unencrypted_is_warned_of(folder: Path, text: str) -> None:
    loaded = load(folder, f"{SAMPLE}http_listen: {text}\nwithout_tls: any host\n")
    assert loaded.without_tls == "any host"
    (warning,) = loaded.warnings
    assert "keys cross the network unencrypted" in warning.message


@pytest.mark.parametrize(
    ("text", "port", "interface"),
    [
        ("tcp:7011:10.0.0.1", "7011", "10.0.0.1"),
        ("tcp:7011:backlog=5:interface=10.0.0.1", "7011", "10.0.0.1"),
        ("tcp:interface=10.0.0.1:port=7011", "7011", "10.0.0.1"),
        (r"tcp6:7011:50:fd00\:\:2", "7011", "fd00::2"),
        (r"ssl:7011:k.pem:c.pem:interface=\:\:1", "7011", "::1"),
        ("unix:/run/jackpotd", "", ""),
    ],
)
def test_a_listener_is_read_as_twisted_reads_it(text: str, port: str, interface: str) -> None:
    found = Listener.read(text)
    assert (found.port, found.interface) == (port, interface)
    assert fault(text) == ""


def test_the_example_is_one() -> None:
    assert fault(EXAMPLE) == ""
