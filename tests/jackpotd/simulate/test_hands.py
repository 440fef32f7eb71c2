"""What some cards are called, and how often each hand is dealt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jackpotd.simulate.cards import (
    ACE,
    DECK,
    DECK_WITH_JOKER,
    JOKER,
    Card,
    CardError,
    parse_cards,
)
from jackpotd.simulate.hands import (
    CARDS,
    CLASSIFIERS,
    FREQUENCIES,
    HandError,
    Kind,
    five_card,
    four_card,
    kind_for,
    seven_card,
)

FIVE_CARD_ROWS = [
    ("As Ks Qs Js Ts", "royal flush"),
    ("Td Ad Jd Kd Qd", "royal flush"),
    ("Ks Qs Js Ts 9s", "straight flush"),
    ("Ah 2h 3h 4h 5h", "straight flush"),
    ("9c 9d 9h 9s 2c", "four of a kind"),
    ("Ac Ad Ah As Kc", "four of a kind"),
    ("9c 9d 9h 2s 2c", "full house"),
    ("9c 9d 2h 2s 2c", "full house"),
    ("As Ks Qs Js 9s", "flush"),
    ("2d 3d 4d 5d 7d", "flush"),
    ("Qs Ks As 2s 3s", "flush"),
    ("As Ks Qs Js Td", "straight"),
    ("Ac 2d 3h 4s 5c", "straight"),
    ("6c 5d 4h 3s 2c", "straight"),
    ("Qs Kd Ah 2s 3s", None),
    ("Js Qd Kh As 2s", None),
    ("7c 7d 7h As Kc", "three of a kind"),
    ("2c 2d 2h As Kc", "three of a kind"),
    ("7c 7d As Ad Kc", "two pair"),
    ("Ac Ad Ks Qd Jc", None),
    ("As Ks Qs Jd 9s", None),
]

WILD_ONLY_ROWS = [
    ("2s Ks Qs Js Ts", "flush"),
    ("2c 9d 9h 9s Kc", "three of a kind"),
    ("2c 2d 2h 2s Kc", "four of a kind"),
    ("2c 9d 9h Ks Qc", None),
]

FOUR_CARD_ROWS = [
    ("Ac Ad Ah As Kc", "four aces"),
    ("Kc Kd Kh Ks Ac", "four of a kind"),
    ("2c 2d 2h 2s 3c", "four of a kind"),
    ("As 2s 3s 4s Kd", "straight flush"),
    ("Js Qs Ks As 2d", "straight flush"),
    ("As 2s 3s 4s 5s", "straight flush"),
    ("5h 6h 7h 8h 8c", "straight flush"),
    ("5h 6h 7h 8h Kh", "straight flush"),
    ("9c 9d 9h 2s 3c", "three of a kind"),
    ("9c 9d 9h 2s 2c", "three of a kind"),
    ("Qs Ks As 2s 7d", None),
    ("Ks As 2s 3s 9s", None),
    ("5h 6h 7h 8c 9h", None),
    ("5h 6h 7h 9h Tc", None),
    ("2h 6h 7h 9h Kh", None),
    ("5h 6c 7h 8d 9s", None),
    ("9c 9d 2h 2s Ac", None),
]

THREE_CARD_ROWS = [
    ("As Ks Qs", "mini royal"),
    ("Qd Ad Kd", "mini royal"),
    ("Ks Qs Js", "straight flush"),
    ("As 2s 3s", "straight flush"),
    ("4c 3c 2c", "straight flush"),
    ("As Ad Ac", "three of a kind"),
    ("2s 2d 2c", "three of a kind"),
    ("As Ks Qd", "straight"),
    ("Ac 2d 3h", "straight"),
    ("9c Td 8h", "straight"),
    ("Ks As 2s", None),
    ("Kd As 2s", None),
    ("As Ks Js", None),
    ("9c 9d Th", None),
]

SEVEN_CARD_ROWS = [
    ("2s 3s 4s 5s 6s 7s 8s", "seven card straight flush"),
    ("As 2s 3s 4s 5s 6s 7s", "seven card straight flush"),
    ("8d 9d Td Jd Qd Kd Ad", "seven card straight flush"),
    ("8d 9d Td Jk Qd Kd Ad", "seven card straight flush"),
    ("3s 4s 5s 6s 7s 8s Jk", "seven card straight flush"),
    ("Jk 2s 3s 4s 5s 6s 7s", "seven card straight flush"),
    ("Js Qs Ks As 2s 3s 4s", None),
    ("Ts Js Qs Ks As 2s 3s", "royal flush"),
    ("Ac Ad Ah As Jk Kc Kd", "five aces"),
    ("Ac Ad Ah As Jk 2s 3s", "five aces"),
    ("Ac Ad Ah As 2s 3s 4s", "four of a kind"),
    ("As Ks Qs Js Ts 2c 2d", "royal flush"),
    ("Ks Qs Js Ts Jk 2c 2d", "royal flush"),
    ("As Ks Qs Ts Jk 2c 2d", "royal flush"),
    ("As Ks Qs Js 9s Jk 2d", "royal flush"),
    ("Ks Qs Js Ts 9s Jk 2d", "royal flush"),
    ("Ks Qs Js Ts 9s 2c 2d", "straight flush"),
    ("As 2s 3s 4s Jk 9c 9d", "straight flush"),
    ("As 2s 4s 5s Jk 9c 9d", "straight flush"),
    ("As Ah Ad 2s 3s 4s Jk", "straight flush"),
    ("9s 9h 9d 9c 6s 7s 8s", "four of a kind"),
    ("As Ah Ad Jk 2s 9c Td", "four of a kind"),
    ("Ks Kh Kd Jk 2s 9c Td", None),
    ("Ks Kh Kd Jk As 9c Td", "full house"),
    ("As Ah Jk Ks Kh 9c Td", "full house"),
    ("Ks Kh Qs Qh Jk 9c Td", None),
    ("Ks Kh Kd Qs Qh Qd Jk", "full house"),
    ("Ks Kh Kd Qs Qh 9c 9d", "full house"),
    ("Ks Kh Qs Qh Jc Jd 9d", None),
    ("2s 4s 6s 8s Ts Qs As", None),
    ("9s 8h 7d 6c 5s 2h Jk", None),
    ("2s 4s 6s Jk 9c Td Kh", None),
]

ROWS = [
    pytest.param(kind, text, hand, id=f"{kind} {text}")
    for kind, rows in (
        (Kind.FIVE_CARD, FIVE_CARD_ROWS),
        (Kind.FOUR_CARD, FOUR_CARD_ROWS),
        (Kind.THREE_CARD, THREE_CARD_ROWS),
        (Kind.SEVEN_CARD, SEVEN_CARD_ROWS),
    )
    for text, hand in rows
]


@pytest.mark.parametrize(("kind", "text", "hand"), ROWS)
def test_the_highest_hand_is_named(kind: Kind, text: str, hand: str | None) -> None:
    assert CLASSIFIERS[kind](parse_cards(text)) == hand


@pytest.mark.parametrize(("text", "hand"), WILD_ONLY_ROWS)
def test_twos_are_not_wild_for_the_dj_wild_progressive(text: str, hand: str | None) -> None:
    assert five_card(parse_cards(text)) == hand


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.FIVE_CARD, "As Ks Qs Js"),
        (Kind.FIVE_CARD, "As Ks Qs Js Ts 9s"),
        (Kind.FIVE_CARD, "As Ks Qs Js Jk"),
        (Kind.FOUR_CARD, "As Ks Qs Js"),
        (Kind.FOUR_CARD, "As Ks Qs Js Jk"),
        (Kind.THREE_CARD, "As Ks Qs Js"),
        (Kind.THREE_CARD, "As Ks Jk"),
        (Kind.SEVEN_CARD, "As Ks Qs Js Ts 9s"),
        (Kind.SEVEN_CARD, ""),
    ],
)
def test_cards_that_a_kind_does_not_take_are_an_error(kind: Kind, text: str) -> None:
    with pytest.raises(HandError, match=kind):
        CLASSIFIERS[kind](parse_cards(text))


def test_cards_are_read_as_they_are_printed() -> None:
    assert len(set(DECK_WITH_JOKER)) == 53
    assert parse_cards(" ".join(map(str, DECK_WITH_JOKER))) == DECK_WITH_JOKER
    assert [str(card) for card in parse_cards("As Td 2c Jk")] == ["As", "Td", "2c", "Jk"]


def test_a_card_that_does_not_exist_is_named() -> None:
    with pytest.raises(CardError, match=r"10s, as;"):
        parse_cards("Ks 10s as")


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ({"royal flush", "straight flush", "three of a kind", "two pair"}, Kind.FIVE_CARD),
        (
            {"royal flush", "straight flush", "four of a kind", "full house", "flush"},
            Kind.FIVE_CARD,
        ),
        ({"four aces", "four of a kind", "straight flush", "three of a kind"}, Kind.FOUR_CARD),
        ({"mini royal", "straight flush", "three of a kind", "straight"}, Kind.THREE_CARD),
        ({"seven card straight flush", "five aces", "full house"}, Kind.SEVEN_CARD),
        ({"five aces"}, Kind.SEVEN_CARD),
        ({"straight flush", "three of a kind"}, Kind.FIVE_CARD),
    ],
)
def test_a_paytables_hands_tell_its_kind(names: set[str], kind: Kind) -> None:
    assert kind_for(names) is kind


def test_a_game_narrows_the_kinds_that_its_paytable_can_mean() -> None:
    assert kind_for({"full house"}, [Kind.SEVEN_CARD]) is Kind.SEVEN_CARD
    with pytest.raises(HandError, match=r"\(five-card\).*four aces"):
        kind_for({"four aces"}, [Kind.FIVE_CARD])


@pytest.mark.parametrize("names", [set(), {"four aces", "royal flush"}, {"Royal Flush"}])
def test_hands_of_no_kind_are_an_error(names: set[str]) -> None:
    with pytest.raises(HandError, match="no kind of hand"):
        kind_for(names)


@pytest.mark.parametrize("kind", [Kind.FIVE_CARD, Kind.FOUR_CARD, Kind.THREE_CARD])
def test_every_deal_of_52_cards_is_counted(kind: Kind) -> None:
    dealt = Counter(map(CLASSIFIERS[kind], combinations(DECK, CARDS[kind])))
    total, hands = FREQUENCIES[kind]
    assert dealt.total() == total
    del dealt[None]
    assert dealt == hands


@pytest.mark.parametrize("kind", Kind)
def test_hands_stand_from_the_highest_to_the_lowest_line(kind: Kind) -> None:
    printed = {
        Kind.FIVE_CARD: "royal flush, straight flush, four of a kind, full house, flush, straight, "
        "three of a kind, two pair",
        Kind.FOUR_CARD: "four aces, four of a kind, straight flush, three of a kind",
        Kind.THREE_CARD: "mini royal, straight flush, three of a kind, straight",
        Kind.SEVEN_CARD: "seven card straight flush, five aces, royal flush, straight flush, "
        "four of a kind, full house",
    }
    assert ", ".join(FREQUENCIES[kind][1]) == printed[kind]


def test_natural_hands_give_the_boards_77_percent_for_dj_wild() -> None:
    """§ 687a.12(c), a 21% increment, the seed of $2,000 for 1, and Envy from five other seats."""
    total, hands = FREQUENCIES[Kind.FIVE_CARD]
    fixed = {
        "four of a kind": 300,
        "full house": 50,
        "flush": 40,
        "straight": 30,
        "three of a kind": 9,
    }
    pays = sum(hands[hand] * times for hand, times in fixed.items())
    seeds = hands["royal flush"] * 2_000
    envy = 5 * (hands["royal flush"] * 1_000 + hands["straight flush"] * 300)
    returned = Fraction(pays + seeds + envy, total) + Fraction(21, 100)
    assert round(returned, 2) == Fraction(77, 100)


def test_wild_twos_could_not_give_77_percent() -> None:
    with_one_two = 4 * (12 * comb(4, 3)) * 44
    with_two_twos = comb(4, 2) * (12 * comb(4, 2)) * 44
    total, _ = FREQUENCIES[Kind.FIVE_CARD]
    assert Fraction((with_one_two + with_two_twos) * 300, total) > 3


def _rank_patterns(cards: int) -> Iterator[Counter[int]]:
    for ranks in combinations_with_replacement(range(2, ACE + 1), cards):
        pattern = Counter(ranks)
        if max(pattern.values()) <= 4:
            yield pattern


def _hands_of(pattern: Mapping[int, int]) -> int:
    return prod(comb(4, count) for count in pattern.values())


def _hands_with_suited(pattern: Mapping[int, int], suited: frozenset[int]) -> int:
    """Count the hands of a rank pattern in which one given suit holds exactly `suited`."""
    return prod(
        comb(3, count - 1) if rank in suited else comb(3, count) for rank, count in pattern.items()
    )


def _windows(length: int) -> list[frozenset[int]]:
    track = [ACE, *range(2, ACE + 1)]
    return [frozenset(track[low : low + length]) for low in range(len(track) - length + 1)]


def _suited_name(suited: frozenset[int], jokers: int) -> str | None:
    sets = [
        ("seven card straight flush", _windows(7)),
        ("royal flush", _windows(5)[-1:]),
        ("straight flush", _windows(5)),
    ]
    for name, windows in sets:
        if any(len(window - suited) <= jokers for window in windows):
            return name
    return None


def _pattern_name(pattern: Mapping[int, int], jokers: int) -> str | None:
    counts = Counter(pattern)
    counts[ACE] += jokers
    first, second = sorted(counts.values(), reverse=True)[:2]
    if first >= 4:
        return "five aces" if counts[ACE] == 5 else "four of a kind"
    return "full house" if first == 3 and second >= 2 else None


def test_seven_cards_are_counted_by_ranks_and_suits() -> None:
    """The counts from arithmetic alone: no classifier takes part.

    Hands of one rank pattern are split by which ranks one suit holds. Only one suit can hold a
    straight flush, so four times that is the number of them in the pattern.
    """
    counted: Counter[str] = Counter()
    total = 0
    names = {
        (ranks, jokers): name
        for jokers in (0, 1)
        for size in range(5 - jokers, 8 - jokers)
        for ranks in map(frozenset, combinations(range(2, ACE + 1), size))
        if (name := _suited_name(ranks, jokers))
    }
    for jokers in (0, 1):
        for pattern in _rank_patterns(7 - jokers):
            left = _hands_of(pattern)
            total += left
            own = _pattern_name(pattern, jokers)
            for size in range(5 - jokers, len(pattern) + 1):
                for suited in map(frozenset, combinations(pattern, size)):
                    name = names.get((suited, jokers))
                    if name is None:
                        continue
                    count = 4 * _hands_with_suited(pattern, suited)
                    counted[name] += count
                    left -= count
            if own is not None:
                counted[own] += left
    assert (total, counted) == FREQUENCIES[Kind.SEVEN_CARD]


def _best_by_trying(cards: Sequence[Card]) -> str | None:
    """Name a seven-card hand as § 561.6(h)-(i) reads: every joker, every five cards."""
    order = list(FREQUENCIES[Kind.SEVEN_CARD][1])
    natural = [card for card in cards if card != JOKER]
    found = set()
    if len(natural) == 6 and [card.rank for card in natural].count(ACE) == 4:
        found.add("five aces")
    # An ace is missing among the stand-ins only where all four are held, and then there are five.
    stand_ins: list[Card | None] = [None]
    if len(natural) == 6:
        stand_ins = [card for card in DECK if card not in natural]
    for stand_in in stand_ins:
        held = natural if stand_in is None else [*natural, stand_in]
        ranks = frozenset(card.rank for card in held)
        if len({card.suit for card in held}) == 1 and ranks in _windows(7):
            found.add("seven card straight flush")
        found |= {
            name
            for name in map(five_card, combinations(held, 5))
            if name in ("royal flush", "straight flush")
            or (name in order and (stand_in is None or stand_in.rank == ACE))
        }
    return min(found, key=order.index, default=None)


def _seven_of(deck: list[Card]) -> st.SearchStrategy[list[Card]]:
    return st.lists(st.sampled_from(deck), min_size=7, max_size=7, unique=True)


FEW_RANKS = _seven_of([card for card in DECK_WITH_JOKER if card.rank in (0, 2, 3, 4, 13, ACE)])
TWO_SUITS = _seven_of([card for card in DECK_WITH_JOKER if card.suit in (-1, 2, 3)])
ONE_SUIT = _seven_of([card for card in DECK_WITH_JOKER if card.suit in (-1, 3)])


@settings(deadline=None)
@given(st.one_of(FEW_RANKS, TWO_SUITS, ONE_SUIT))
def test_seven_cards_are_the_best_that_trying_everything_finds(cards: list[Card]) -> None:
    assert seven_card(cards) == _best_by_trying(cards)


@pytest.mark.parametrize("classify", [five_card, four_card])
@settings(deadline=None)
@given(cards=st.permutations(DECK[8:20]).map(lambda cards: cards[:5]))
def test_the_order_of_the_cards_does_not_matter(
    classify: Callable[[Sequence[Card]], str | None], cards: list[Card]
) -> None:
    assert classify(cards) == classify(sorted(cards, key=DECK.index))
