"""A simulated table: it locks the bets, deals a real deck and settles as a dealer does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from threading import Event
from typing import Any

from jackpotd.simulate.cards import DealError
from jackpotd.simulate.connection import Connection, Stopped
from jackpotd.simulate.games import GAMES, DealtRound, Game, SeatCards, deal
from jackpotd.simulate.guests import Guests, Habits, seat_guests
from jackpotd.simulate.hands import HandError, Kind, kind_for
from jackpotd.simulate.news import Held, Pending, PlaysOn, Tell
from jackpotd.simulate.stacked import PlayError, StackedHand
from jackpotd.simulate.tally import Tally
from meters.terms import Terms

RETRY_SECONDS = 0.25
"""How long a table waits before it sends again what may be accepted later."""

Rig = Mapping[int, str | tuple[Kind, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A progressive that a table carries, and the kind of hand that its paytable means."""

    terms: Terms
    kind: Kind

    @property
    def name(self) -> str:
        """The progressive's name."""
        return self.terms.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What stands on a table: its game, the seats in use, the progressives, and stacked decks.

    `rigs` has, by round of the simulation, what each stacked seat is to hold.
    """

    table: str
    game: Game
    seats: int
    progressives: tuple[Carried, ...]
    rigs: Mapping[int, Rig]


def layout_of(
    table: str,
    *,
    game: str,
    seats: int,
    progressives: Iterable[Terms],
    stacked: Sequence[StackedHand] = (),
) -> Layout:
    """Return a table's layout. Raises PlayError for what can't be dealt there."""
    played = GAMES[game]
    seats = min(seats, played.most_seats)
    carried = tuple(_carried(table, terms, played) for terms in progressives)
    rigs: dict[int, dict[int, str | tuple[Kind, str]]] = defaultdict(dict)
    for each in stacked:
        if each.seat > seats:
            raise PlayError(f"{each}: {table} plays seats 1 to {seats}")
        rigs[each.round][each.seat] = (_kind_of(each, carried), each.hand)
    for round_, rig in rigs.items():
        try:
            deal(played, range(1, seats + 1), Random(0), rig)
        except DealError as error:
            raise PlayError(f"{table}, round {round_}: {error}") from error
    return Layout(table=table, game=played, seats=seats, progressives=carried, rigs=rigs)


def _carried(table: str, terms: Terms, game: Game) -> Carried:
    try:
        return Carried(terms=terms, kind=kind_for(terms.pays, game.kinds))
    except HandError as error:
        raise PlayError(f"{table} can't deal {terms.name}: {error}") from error


def _kind_of(wish: StackedHand, carried: Iterable[Carried]) -> Kind:
    hands: list[str] = []
    for each in carried:
        if wish.hand in each.terms.pays:
            return each.kind
        hands += each.terms.pays
    known = ", ".join(dict.fromkeys(hands))
    raise PlayError(f"{wish}: no progressive of {wish.table} has this hand; there are: {known}")


class SimulatedTable:
    """One table: `play` deals its rounds, one after the other.

    `state` is the table's part of the welcome. The same `seed` deals the same cards to the same
    guests, round by round, however the daemon answers; a stacked hand changes no other round.
    """

    def __init__(
        self,
        layout: Layout,
        connection: Connection,
        state: Mapping[str, Any],
        *,
        seed: int,
        habits: Habits,
        tally: Tally,
        tell: Tell,
        stop: Event,
    ) -> None:
        self.name = layout.table
        self._layout = layout
        self._connection = connection
        self._next_seq: int = state["next_seq"]
        self._round: int = state["round"]
        self._waits = False
        self._seed = seed
        self._habits = habits
        self._tally = tally
        self._tell = tell
        self._stop = stop

    def play(self, *, rounds: int | None, pause_seconds: float) -> None:
        """Play `rounds` rounds, or until stopped, with a pause after each.

        Returns when it is stopped too. Raises PlayError or ClientError if the table can't go on.
        """
        played = 0
        try:
            while not self._stop.is_set() and (rounds is None or played < rounds):
                played += 1
                self._play_round(played)
                if pause_seconds and self._stop.wait(pause_seconds):
                    return
        except Stopped:
            return

    def _play_round(self, played: int) -> None:
        layout = self._layout
        rng = Random(f"{self._seed} {self.name} {played}")
        rig = layout.rigs.get(played, {})
        names = [each.name for each in layout.progressives]
        guests = seat_guests(layout.seats, names, rng, self._habits, keen=rig)
        misdealt = rng.randrange(100) < self._habits.misdealing and not rig
        if self._lock(guests):
            if misdealt:
                self._ask("void", reason="misdeal")
            else:
                self._settle(guests, deal(layout.game, guests.seats, rng, rig))
        self._tally.round()

    def _lock(self, guests: Guests) -> bool:
        """Lock each progressive that somebody bets on; tell whether there is any."""
        wagers = {name: seats for name, seats in guests.wagers.items() if seats}
        self._round += bool(wagers)
        players = {str(seat): name for seat, name in guests.players.items()}
        for name, seats in wagers.items():
            named = {"players": players} if players else {}
            self._ask("wager", progressive=name, seats=seats, **named)
        return bool(wagers)

    def _settle(self, guests: Guests, dealt: DealtRound) -> None:
        """Send the hits in the dealer's order, seat by seat (rules 4.1)."""
        for cards in dealt.seats:
            for carried in self._layout.progressives:
                hand = cards.hand(carried.kind)
                if hand is not None and is_due(carried.terms, hand, cards.seat, guests):
                    self._hit(carried, hand, cards, folded=cards.seat in guests.folded)

    def _hit(self, carried: Carried, hand: str, cards: SeatCards, *, folded: bool) -> None:
        self._ask(
            "hit",
            progressive=carried.name,
            seat=cards.seat,
            hand=hand,
            folded=folded,
            cards=[str(card) for card in cards.making[carried.kind]],
        )

    def _ask(self, kind: str, **fields: Any) -> Mapping[str, Any]:
        """Send a message of this round until it is accepted, with the same `seq`."""
        request = {
            "type": kind,
            "table": self.name,
            "seq": self._next_seq,
            "round": self._round,
            **fields,
        }
        refusals: set[str] = set()
        while True:
            reply = self._connection.ask(request)
            if reply["type"] != "error":
                break
            self._refused(reply, refusals)
            if self._stop.wait(RETRY_SECONDS):
                raise Stopped
        self._next_seq += 1
        self._tally.answered(reply)
        self._note(reply)
        return reply

    def _note(self, reply: Mapping[str, Any]) -> None:
        """Tell of an award that waits for the floor, and of the first lock after it."""
        if reply["type"] == "award" and reply["status"] == "pending":
            self._waits = True
            self._tell(Pending(award=reply))
        elif reply["type"] == "accepted" and self._waits:
            self._waits = False
            self._tell(PlaysOn(table=self.name))

    def _refused(self, reply: Mapping[str, Any], before: set[str]) -> None:
        """Count a refusal of this message, once; PlayError if trying again is no use."""
        code: str = reply["code"]
        if code not in before:
            before.add(code)
            self._tally.answered(reply)
            if code == "table-held":
                self._waits = True
                self._tell(Held(table=self.name, message=reply["message"]))
        if not reply["retry"]:
            raise PlayError(f"{self.name}: {code}: {reply['message']}")


def is_due(terms: Terms, hand: str, seat: int, guests: Guests) -> bool:
    """Tell whether a seat's hand is to be sent: it wins, or gives another player Envy.

    Rules 4.2 and 6: a folded hand wins only where folded hands qualify, and gives Envy all the
    same, as a hand without a wager does.
    """
    if hand not in terms.pays:
        return False
    stands = seat not in guests.folded or terms.folded_hands_qualify
    wins = stands and seat in guests.wagers[terms.name]
    return wins or (hand in terms.envy and guests.others(seat, terms.name))
