"""What each game deals, in which order it is settled, and what a stacked deck holds."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jackpotd.simulate.cards import JOKER, DealError
from jackpotd.simulate.games import GAMES, DealtRound, Game, deal
from jackpotd.simulate.hands import CARDS, FREQUENCIES, Kind

ALL_GAMES = st.sampled_from(list(GAMES.values()))

EVERY_HAND = [
    pytest.param(game, kind, hand, id=f"{game.name} {kind} {hand}")
    for game in GAMES.values()
    for kind in game.kinds
    for hand in FREQUENCIES[kind][1]
]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Game, set[int], int]:
    """Draw a game, the seats that play, and a seed."""
    game = draw(ALL_GAMES)
    most = min(game.most_seats, 7)
    seats = draw(st.sets(st.integers(1, 9), min_size=1, max_size=most))
    return game, seats, draw(st.integers(0, 2**32))


def dealt_cards(dealt: DealtRound) -> list[str]:
    table = [*dealt.dealer, *dealt.community, *dealt.replacement]
    return [str(card) for card in [*table, *(card for seat in dealt.seats for card in seat.own)]]


@pytest.mark.parametrize(
    ("name", "deck", "own", "dealer", "community", "replacement", "kinds"),
    [
        ("caribbean-stud", 52, 5, 5, 0, 0, ["five-card"]),
        ("four-card-poker", 52, 5, 6, 0, 0, ["five-card", "four-card"]),
        ("let-it-ride", 52, 3, 0, 2, 0, ["five-card", "three-card"]),
        ("texas-holdem-bonus", 52, 2, 2, 5, 0, ["five-card"]),
        ("dj-wild-stud", 53, 5, 5, 0, 1, ["five-card"]),
        ("pai-gow-poker", 53, 7, 7, 0, 0, ["seven-card"]),
    ],
)
def test_each_game_deals_its_cards_to_six_seats(
    name: str,
    deck: int,
    own: int,
    dealer: int,
    community: int,
    replacement: int,
    kinds: list[str],
) -> None:
    game = GAMES[name]
    dealt = deal(game, range(1, 7), Random(1))
    assert len(set(game.deck)) == deck
    assert [len(seat.own) for seat in dealt.seats] == [own] * 6
    assert len(dealt.dealer) == dealer
    assert len(dealt.community) == community
    assert len(dealt.replacement) == replacement
    assert [list(seat.making) for seat in dealt.seats] == [kinds] * 6


@settings(deadline=None)
@given(tables())
def test_a_deal_takes_every_card_from_one_deck_once(table: tuple[Game, set[int], int]) -> None:
    game, seats, seed = table
    dealt = deal(game, seats, Random(seed))
    cards = dealt_cards(dealt)
    assert len(set(cards)) == len(cards)
    assert set(cards) <= set(map(str, game.deck))
    assert {seat.seat for seat in dealt.seats} == seats


@settings(deadline=None)
@given(tables())
def test_the_same_seed_deals_the_same_cards(table: tuple[Game, set[int], int]) -> None:
    game, seats, seed = table
    assert deal(game, seats, Random(seed)) == deal(game, seats, Random(seed))
    assert deal(game, seats, Random(seed)) != deal(game, seats, Random(seed + 1))


@pytest.mark.parametrize(
    ("rig", "own"),
    [
        (None, "Qc 3s Kc"),
        ({2: "royal flush"}, "Ah Th Qh"),
    ],
)
def test_a_seed_means_the_same_deal_in_every_process(rig: dict[int, str] | None, own: str) -> None:
    dealt = deal(GAMES["let-it-ride"], [1, 2], Random(7), rig)
    assert " ".join(map(str, dealt.at(2).own)) == own


@settings(deadline=None)
@given(tables())
def test_each_kind_of_hand_is_made_of_the_cards_the_rules_name(
    table: tuple[Game, set[int], int],
) -> None:
    game, seats, seed = table
    dealt = deal(game, seats, Random(seed))
    for seat in dealt.seats:
        for kind, cards in seat.making.items():
            assert len(cards) == CARDS[kind]
            match game.name, kind:
                case "let-it-ride", Kind.FIVE_CARD:
                    assert cards == seat.own + dealt.community
                case "texas-holdem-bonus", _:
                    assert cards == seat.own + dealt.community[:3]
                case "dj-wild-stud", _ if JOKER in seat.own:
                    assert set(cards) == {*seat.own, *dealt.replacement} - {JOKER}
                case _:
                    assert cards == seat.own


def test_dj_wild_hands_come_as_often_as_natural_ones() -> None:
    """With this seed; wild twos or a wild joker would give far more."""
    rng = Random(687)
    game = GAMES["dj-wild-stud"]
    rounds = [deal(game, range(1, 7), rng) for _ in range(10_000)]
    seats = [seat for dealt in rounds for seat in dealt.seats]
    held = Counter(seat.hand(Kind.FIVE_CARD) for seat in seats)
    total, hands = FREQUENCIES[Kind.FIVE_CARD]
    for hand in ("three of a kind", "two pair"):
        expected = len(seats) * hands[hand] / total
        assert held[hand] == pytest.approx(expected, rel=0.05)
    replaced = [seat for seat in seats if JOKER in seat.own]
    assert len(replaced) == pytest.approx(len(seats) * 5 / 53, rel=0.05)


@pytest.mark.parametrize(
    ("name", "seats", "order"),
    [
        ("caribbean-stud", [1, 2, 3, 4], (4, 3, 2, 1)),
        ("four-card-poker", [5, 2, 6], (6, 5, 2)),
        ("let-it-ride", [1, 7], (7, 1)),
        ("texas-holdem-bonus", [3], (3,)),
        ("pai-gow-poker", [1, 2, 3, 4, 5, 6], (6, 5, 4, 3, 2, 1)),
        ("dj-wild-stud", [1, 2, 3, 4, 5, 6], (1, 6, 5, 4, 3, 2)),
        ("dj-wild-stud", [4, 2, 5], (2, 5, 4)),
        ("dj-wild-stud", [3], (3,)),
    ],
)
def test_seats_are_settled_counterclockwise_from_the_end_the_rules_name(
    name: str, seats: list[int], order: tuple[int, ...]
) -> None:
    dealt = deal(GAMES[name], seats, Random(1))
    assert tuple(seat.seat for seat in dealt.seats) == order


@pytest.mark.parametrize(("game", "kind", "hand"), EVERY_HAND)
def test_a_stacked_deck_gives_a_seat_any_hand_of_the_game(
    game: Game, kind: Kind, hand: str
) -> None:
    for seed in range(10):
        dealt = deal(game, range(1, 7), Random(seed), {3: (kind, hand)})
        assert dealt.at(3).hand(kind) == hand
        cards = dealt_cards(dealt)
        assert len(set(cards)) == len(cards) == len(dealt_cards(deal(game, range(1, 7), Random(0))))
        assert set(cards) <= set(map(str, game.deck))


@pytest.mark.parametrize(
    ("name", "rig"),
    [
        ("caribbean-stud", dict.fromkeys([1, 2, 3, 4], "royal flush")),
        ("caribbean-stud", {1: "royal flush", 2: "straight flush", 5: "four of a kind"}),
        ("caribbean-stud", dict.fromkeys(range(1, 7), "straight flush")),
        ("four-card-poker", {1: "four aces", 2: "straight flush", 3: "full house"}),
        ("four-card-poker", {1: "royal flush", 2: (Kind.FOUR_CARD, "straight flush")}),
        ("dj-wild-stud", {1: "royal flush", 6: "royal flush"}),
        ("pai-gow-poker", {1: "seven card straight flush", 2: "five aces", 3: "straight flush"}),
        ("let-it-ride", {1: "royal flush", 2: "four of a kind"}),
        ("let-it-ride", {1: "straight flush", 2: "straight flush"}),
        ("let-it-ride", {1: "mini royal", 2: "royal flush", 3: "mini royal"}),
        ("let-it-ride", {1: "flush", 2: "flush", 3: "flush"}),
        ("let-it-ride", {1: "straight flush", 2: "royal flush"}),
        ("texas-holdem-bonus", {1: "straight flush", 2: "straight flush"}),
        ("texas-holdem-bonus", {1: "straight flush", 2: "royal flush"}),
        ("texas-holdem-bonus", {1: "two pair", 2: "royal flush", 3: "flush"}),
        ("texas-holdem-bonus", {1: "full house", 2: "full house", 3: "two pair"}),
    ],
)
def test_several_seats_can_be_rigged_in_one_deal(
    name: str, rig: dict[int, str | tuple[Kind, str]]
) -> None:
    game = GAMES[name]
    for seed in range(5):
        dealt = deal(game, range(1, 7), Random(seed), rig)
        for seat, wanted in rig.items():
            hand = wanted if isinstance(wanted, str) else wanted[1]
            kinds = game.kinds if isinstance(wanted, str) else (wanted[0],)
            assert hand in [dealt.at(seat).hand(kind) for kind in kinds]
        cards = dealt_cards(dealt)
        assert len(set(cards)) == len(cards)


@pytest.mark.parametrize(
    ("name", "rig"),
    [
        ("let-it-ride", {1: "royal flush", 2: "royal flush"}),
        ("texas-holdem-bonus", {1: "royal flush", 2: "royal flush"}),
        ("four-card-poker", {1: "four aces", 2: "royal flush"}),
        ("pai-gow-poker", {1: "five aces", 2: "royal flush"}),
        ("caribbean-stud", dict.fromkeys(range(1, 6), "royal flush")),
        ("four-card-poker", {1: "four aces", 2: "four aces"}),
        ("pai-gow-poker", {1: "five aces", 2: "five aces"}),
        ("let-it-ride", dict.fromkeys(range(1, 5), "flush")),
    ],
)
def test_hands_that_one_deck_does_not_give_together_are_refused(
    name: str, rig: dict[int, str | tuple[Kind, str]]
) -> None:
    with pytest.raises(DealError, match=r"no deal of one deck with seat 1 .*, seat 2 "):
        deal(GAMES[name], range(1, 7), Random(1), rig)


def test_a_name_that_two_kinds_have_means_the_games_first_kind() -> None:
    dealt = deal(GAMES["four-card-poker"], [1], Random(1), {1: "straight flush"})
    assert dealt.at(1).hand(Kind.FIVE_CARD) == "straight flush"


def test_the_cards_beside_a_rigged_seat_are_dealt_from_the_seed() -> None:
    game = GAMES["caribbean-stud"]
    dealt = [deal(game, [1, 2], Random(seed), {1: "royal flush"}) for seed in range(20)]
    assert len({round_.at(2).own for round_ in dealt}) == 20
    assert len({frozenset(round_.at(1).own) for round_ in dealt}) == 4
    assert len({round_.at(1).own for round_ in dealt}) > 4


@pytest.mark.parametrize(
    ("name", "seats", "rig", "message"),
    [
        ("caribbean-stud", [], {}, "needs seats"),
        ("caribbean-stud", [0, 1], {}, "numbered from 1"),
        ("caribbean-stud", range(1, 11), {}, "at most 9 seats, not to 10"),
        ("pai-gow-poker", range(1, 8), {}, "at most 6 seats, not to 7"),
        ("caribbean-stud", [1, 2], {3: "flush"}, "don't play: 3"),
        ("caribbean-stud", [1], {1: "four aces"}, "has no five-card hand 'four aces', only"),
        ("four-card-poker", [1], {1: "mini royal"}, "no five-card four-card hand 'mini royal'"),
        ("let-it-ride", [1], {1: (Kind.THREE_CARD, "flush")}, "no three-card hand 'flush'"),
        ("let-it-ride", [1], {1: (Kind.FOUR_CARD, "four aces")}, "no four-card hand 'four aces'"),
    ],
)
def test_a_deal_that_the_game_does_not_allow_says_why(
    name: str,
    seats: list[int],
    rig: dict[int, str | tuple[Kind, str]],
    message: str,
) -> None:
    with pytest.raises(DealError, match=message):
        deal(GAMES[name], seats, Random(1), rig)


def test_a_seat_that_was_not_dealt_has_no_cards() -> None:
    with pytest.raises(KeyError):
        deal(GAMES["caribbean-stud"], [1], Random(1)).at(2)


def test_a_seat_named_twice_is_dealt_once() -> None:
    game = GAMES["caribbean-stud"]
    assert deal(game, [2, 1, 2], Random(1)) == deal(game, [1, 2], Random(1))
