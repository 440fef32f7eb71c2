"""Commands and TLS: check and run, and confirm, deny and simulate against a daemon with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from jackpotd import config
from jackpotd.client import Unreachable, connect
from tests.certificates import Certified, certify, client_context
from tests.e2e.running import RIVERSIDE, Property, jackpotd, output_of, riverside
from tests.e2e.talking import Peer, hit, wager

CLIENTS = "client_authority: tls/clients.pem\n"


@pytest.fixture
def authority() -> Certified:
    return certify("Riverside tables", authority=True)


@pytest.fixture
def house(tmp_path: Path, free_port: int, authority: Certified) -> Property:
    """A property with TLS at its tables, on a port that its configuration names."""
    made = riverside(tmp_path / "house")
    certify("riverside").write(made.folder / "tls")
    (made.folder / "tls" / "clients.pem").write_bytes(authority.certificate_pem)
    listen = f"ssl:{free_port}:privateKey=tls/key.pem:certKey=tls/cert.pem:interface=127.0.0.1"
    return made.write(RIVERSIDE + CLIENTS, tables_listen=listen)


@pytest.fixture
def pending(house: Property, authority: Certified) -> Iterator[Property]:
    """The property with its daemon, where hit 1 and hit 2 wait."""
    shown = certify("pit", by=authority).write_both(house.folder / "pit.pem")
    with (
        house.running() as daemon,
        Peer(daemon.ports["tables"], None, tls=client_context(shown)) as pit,
    ):
        for table in ("FCP-01", "FCP-02"):
            for said in (wager(table, 1, 1, 1), hit(table, 2, 1, 1, "royal flush")):
                assert pit.ask(said)["type"] in ("accepted", "award")
        yield house


def test_the_floor_confirms_and_denies_with_a_key_or_a_certificate(
    pending: Property, authority: Certified
) -> None:
    confirmed = output_of("confirm", pending.config, "1", key=pending.keys["floor-1"])
    assert "hit 1 is confirmed by floor-1" in confirmed
    path = certify("floor-1", by=authority).write_both(pending.folder / "floor-1.pem")
    denied = output_of("deny", pending.config, "2", "--reason", "misread", "--cert", path)
    assert "hit 2 is denied by floor-1" in denied
    both = ("confirm", pending.config, "1", "--cert", path)
    assert output_of(*both, key=pending.keys["floor-1"]) == confirmed


def test_a_certificate_that_is_not_taken_confirms_nothing(
    pending: Property, authority: Certified
) -> None:
    path = pending.folder / "shown.pem"
    for shown, words in [
        (certify("floor-1", by=authority, days=(-30, -1)), "the connection to"),
        (certify("floor-1"), "the connection to"),
        (certify("nobody", by=authority), "bad-key"),
        (certify("pit", by=authority), "not-allowed"),
    ]:
        done = jackpotd("confirm", pending.config, "1", "--cert", shown.write_both(path))
        assert done.returncode == 1
        assert words in done.stderr
    path.write_text("no certificate")
    done = jackpotd("confirm", pending.config, "1", "--cert", path)
    assert (done.returncode, f"{path} can't be used" in done.stderr) == (1, True)
    assert output_of("hits", pending.config, "--pending").count("FCP-0") == 2


def test_a_command_speaks_with_the_propertys_own_certificate_only(pending: Property) -> None:
    """An impostor is not told the key, not even one that the same authority certified."""
    certify("riverside").write(pending.folder / "tls")
    done = jackpotd("confirm", pending.config, "1", key=pending.keys["floor-1"])
    assert done.returncode == 1
    assert "no TLS with 127.0.0.1" in done.stderr
    assert "SIGHUP" in done.stderr


def test_a_wait_over_tls_is_interrupted_from_another_thread(house: Property) -> None:
    with house.running():
        client = connect(config.load(house.config), house.keys["pit"], [])
        waker = Thread(target=client.interrupt)
        waker.start()
        with pytest.raises(Unreachable):
            client.receive()
        waker.join()
        client.close()


def test_tables_are_simulated_over_tls(house: Property) -> None:
    with house.running():
        words = ("--rounds", "3", "--rate", "0", "--seed", "1", "--tables", "FCP-01,LIR-03")
        told = output_of("simulate", house.config, *words, key=house.keys["pit"])
    assert "lost      0 connections" in told


def test_without_tls_a_certificate_says_nothing(tmp_path: Path) -> None:
    house = riverside(tmp_path / "plain", tables_listen="tcp:1:interface=127.0.0.1")
    path = certify("floor-1").write_both(tmp_path / "floor-1.pem")
    done = jackpotd("confirm", house.config, "1", "--cert", path)
    assert done.returncode == 1
    assert "tables listen without TLS" in done.stderr


# check and run


def test_check_reads_the_certificates_and_warns_of_their_end(house: Property) -> None:
    assert "warning" not in jackpotd("check", house.config).stderr
    certify("riverside", days=(-1, 5)).write(house.folder / "tls")
    done = jackpotd("check", house.config)
    assert done.returncode == 0
    assert f"warning: {house.folder}/tls/cert.pem: CN=riverside expires on" in done.stderr


def test_check_says_what_is_wrong_with_certificates_and_principals_at_once(
    house: Property,
) -> None:
    (house.folder / "tls" / "key.pem").write_text("")
    (house.folder / "tls" / "clients.pem").write_text("")
    (house.folder / "keys.yaml").write_text("pit: {role: king}\n")
    done = jackpotd("check", house.config)
    assert done.returncode == 1
    for name in ("tls/key.pem: ", "tls/clients.pem: ", "keys.yaml:1: pit.role"):
        assert f"{house.folder}/{name}" in done.stderr


def test_the_daemon_does_not_start_without_its_certificate_and_leaves_no_record(
    house: Property,
) -> None:
    (house.folder / "tls" / "key.pem").write_bytes(certify("other").key_pem)
    assert "this is not the certificate of the key" in house.refusal()
    assert not house.store.exists()


def test_other_commands_need_no_private_key(house: Property) -> None:
    """The floor's account may not read it, and confirms all the same."""
    with house.running():
        (house.folder / "tls" / "key.pem").write_bytes(b"unreadable")
        assert "riverside-royal" in output_of("meters", house.config)
        done = jackpotd("confirm", house.config, "9", key=house.keys["floor-1"])
    assert "unknown-hit" in done.stderr
