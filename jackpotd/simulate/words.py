"""The news of a simulation in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jackpotd.simulate.news import Back, Failed, Held, Lost, News, Pending, PlaysOn, Settled
from meters.money import Currency, format_minor


def words(news: News, currency: Currency) -> str:
    """Put one piece of news into a line or two, with amounts in the currency."""
    match news:
        case Pending(award=award):
            return f"pending: {award_words(award, currency)}"
        case Held(message=message):
            return message
        case PlaysOn(table=table):
            return f"{table} plays on"
        case Settled(reply=reply):
            return _settled(reply, currency)
        case Lost(name=name, why=why):
            return f"{name}: {why}; connecting again"
        case Back(name=name):
            return f"{name} is connected again"
        case Failed(name=name, error=error):
            return f"{name} is out: {error}"


def award_words(award: Mapping[str, Any], currency: Currency) -> str:
    """Say an award: whose, what for, how much, and the Envy that comes with it."""
    amount = format_minor(award["amount"], currency)
    line = f" ({award['line']})" if "line" in award else ""
    said = (
        f"hit {award['hit']}, {award['hand']} at {award['table']} seat {award['seat']}, "
        f"{amount}{line}"
    )
    if award["envy"]:
        envy = format_minor(award["envy"][0]["amount"], currency)
        seats = ", ".join(str(each["seat"]) for each in award["envy"])
        said += f", and {envy} Envy for each of seats {seats}"
    return said


def _settled(reply: Mapping[str, Any], currency: Currency) -> str:
    match reply["type"]:
        case "confirmed":
            amount = format_minor(reply["amount"], currency)
            return f"hit {reply['hit']} is confirmed by {reply['by']}: {amount}"
        case "denied":
            return f"hit {reply['hit']} is denied by {reply['by']}"
    return f"the floorperson was refused: {reply['code']}: {reply['message']}"
