"""What a caption states: its events, their order, and the caption that states the reverse."""

import csv
import importlib.util
import string
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captioned import assert_reversed, said, table
from earwitness.captions import parse, reverse

PLAIN = """
A followed by B => A < B
A is followed by B => A < B
A then B => A < B
A and then B => A < B
A, after that B => A < B
A before B => A < B
B after A => A < B
After A, B => A < B
Before B, A => A < B
A preceded by B => B < A
A precedes B => A < B
A prior to B => A < B
A until B => A < B
A succeeded by B => A < B
A, B coming next => A < B
A, and B follows => A < B
A, afterwards B => A < B
A and finally B => A < B
first A, later B => A < B
first A, then B, finally C => A < B < C
first A, second B, third C => A < B < C
initially A, afterwards B => A < B
starting with A and then B => A < B
it begins with A and ends with B => A < B
A then B while C => A < B | C
A while B, then C => A | B < C
A and B then C => A | B < C
A, B and C => A | B | C
A before B before C => A < B < C
C after B after A => A < B < C
A then B after C => A | C < B
A -> B -> C => A < B < C
1. A 2. B 3. C => A < B < C
"""

SENTENCES = """
A dog barks immediately followed by a gunshot => dog barks < gunshot
A dog barks, followed quickly by a gunshot => dog barks < gunshot
A dog barks followed shortly after by a gunshot => dog barks < gunshot
A dog bark closely followed by thunder => dog bark < thunder
A siren wails and is followed a few seconds later by an explosion => siren wails < explosion
A cough, followed in turn by a sneeze and then a laugh => cough < sneeze < laugh
A man speaks proceeded by applause => man speaks < applause
A dog barks; afterwards, a cat meows => dog barks < cat meows
A dog barks. Then a cat meows. Finally, a bell rings. => dog barks < cat meows < bell rings
A cough. This is followed by a sneeze. => cough < sneeze
A bell rings a few seconds after a dog barks => dog barks < bell rings
Shortly after a dog barks, a bell rings => dog barks < bell rings
After the dog barks and the cat meows, a bell rings => dog barks | cat meows < bell rings
After a cough comes a sneeze => cough < sneeze
Before a door slams, a man coughs and a woman sneezes => man coughs | woman sneezes < door slams
A door slams, preceded by footsteps and followed by laughter => footsteps < door slams < laughter
Preceded by footsteps, a door slams => footsteps < door slams
A sneeze. Before that, a cough. => cough < sneeze
A cough. A woman then laughs. => cough < woman laughs
A knock, preceded immediately by footsteps => footsteps < knock
A knock that comes after footsteps => footsteps < knock
Knocking, with footsteps beforehand => footsteps < knocking
A knock follows footsteps => footsteps < knock
Footsteps followed, after a pause, by a knock => footsteps < knock
A baby cries, glass shattering right after it => baby cries < glass shattering
A dog barks but first a cat meows => cat meows < dog barks
An owl hoots, following the sound of thunder => thunder < owl hoots
As soon as the whistle blows, a crowd cheers => whistle blows < crowd cheers
A baby cries, after which a mother sings => baby cries < mother sings
A cough occurs earlier than a sneeze => cough < sneeze
First, a cough is heard. Second, a sneeze is heard. Third, someone laughs. => cough < sneeze < someone laughs
The first sound is a dog barking and the second sound is a cat meowing => dog barking < cat meowing
A cough at the beginning, a sneeze in the middle, and a laugh at the end => cough < sneeze < laugh
A rooster crows at the end, a cow moos at first => cow moos < rooster crows
A cough to start, a sneeze to finish => cough < sneeze
The recording starts with a car horn, then a siren is heard and it ends with a crash => car horn < siren < crash
Thunder rumbles, which then gives way to rain => thunder rumbles < rain
A horn honks, then after a brief pause, a man shouts => horn honks < man shouts
Footsteps approach the door, which then opens with a creak => footsteps approach the door < opens with a creak
Three consecutive sounds: a cough, a sneeze and a laugh => cough < sneeze < laugh
A sequence of a cough, a sneeze, and a laugh => cough < sneeze < laugh
Brakes screech, glass shatters and a man shouts in quick succession => brakes screech < glass shatters < man shouts
A morning ritual in order: a kettle whistles, water pours, a man sips => kettle whistles < water pours < man sips
Rain, thunder and wind, then birds chirping => rain | thunder | wind < birds chirping
While a clock ticks, a door opens, then footsteps approach => clock ticks | door opens < footsteps approach
In the distance, a dog barks before a car passes => dog barks < car passes
A loud, metallic bang followed by footsteps on dirt and gravel => loud, metallic bang < footsteps on dirt and gravel
Men and women laugh, then a door closes => men and women laugh < door closes
Dishes, pots, and pans clatter before glass shatters => dishes, pots, and pans clatter < glass shatters
A faucet turns on and off, followed by a flush => faucet turns on and off < flush
A drill, a saw, or a sander runs, then a man speaks => drill, a saw, or a sander runs < man speaks
A man yelling before and after a person belching => man yelling < person belching
A door creaks. It creaks again. Then a cat meows => door creaks < cat meows
A cat meows, there's brief silence, it meows again, followed by silence, then music plays => cat meows < music plays
A groan, followed by another groan, followed by a scream => groan < scream
A man speaks, followed by another man speaking => man speaks < another man speaking
A dog barks twice, pauses, barks again, then a car horn honks => dog barks < car horn honks
Silence, followed by a scream => silence < scream
create an audio sequence starting with boat horn audio and then followed by coughing audio => boat horn < coughing
make an audio recording play coughing audio initially, glass drop audio afterwards => coughing < glass drop
produce an audio recording with sheep audio in the begining, siren audio coming next => sheep < siren
generate laughing audio preceded by footstep audio => footstep < laughing
You can hear a train passing and after that birds chirping => train passing < birds chirping
A recording where a cough happens before a sneeze => cough < sneeze
Two cars honk for 3 seconds, then a cat meows for 2 seconds => two cars honk < cat meows
"""  # noqa: E501

NO_ORDER = """
A dog barks, a cat meows and a bird sings => dog barks | cat meows | bird sings
A dog barking as a car passes by => dog barking | car passes by
A man speaking with birds chirping in the background => man speaking & birds chirping in the background
A dog barks, meanwhile a cat meows => dog barks | cat meows
People are whispering. A child sneezes. => people are whispering | child sneezes
A dog barks and a man says see you later => dog barks | man says see you later
if a dog barks then a cat meows => dog barks | cat meows
either to generate horn audio or generate siren audio => either to generate horn audio or generate siren
A man looks after a dog => man looks after a dog
A dog runs after a cat => dog runs after a cat
A dog follows a man => dog follows a man
A sequence of overlapping sounds: laughing, coughing and rain => laughing | coughing | rain
Footsteps following a path through leaves => footsteps following a path through leaves
After all, a dog barks => dog barks
Before long, a dog barks => dog barks
A dog barks now and then => dog barks now and then
The then-president speaks to a crowd => then-president speaks to a crowd
A crowd sings the morning after => crowd sings the morning after
Wave after wave crashes on the shore => wave after wave crashes on the shore
A man speaks before a crowd => man speaks before a crowd
A dog barks next to a waterfall => dog barks next to a waterfall
A siren wails for a while => siren wails for a while
A toilet flushes followed by another toilet flushing => toilet flushes
generate siren audio 1 meter away, followed by the same siren audio that is 5 meters away => siren audio 1 meter away
"""  # noqa: E501


@pytest.mark.parametrize(("caption", "expected"), table(PLAIN) + table(SENTENCES))
def test_the_stated_order_is_read(caption: str, expected: str) -> None:
    parsed = parse(caption)
    assert said(parsed) == expected
    assert bool(parsed.reason) == ("<" not in expected)


@pytest.mark.parametrize(("caption", "expected"), table(NO_ORDER))
def test_no_order_is_made_up(caption: str, expected: str) -> None:
    parsed = parse(caption)
    assert said(parsed) == expected
    assert parsed.precedences == ()
    assert parsed.reason == (
        "no order is stated between the events" if "|" in expected or "&" in expected else "one event"
    )


@pytest.mark.parametrize(
    ("caption", "expected"),
    table(
        """
        cat meowing at 5.0-6.1 and dog barking at 1.2-3.0 => dog barking 1.2-3.0 < cat meowing 5.0-6.1
        A bleat occurs from 1.8 to 3.04 seconds, and a toilet flush follows from 4.6 to 7.4 seconds. => bleat 1.8-3.04 < toilet flush 4.6-7.4
        From 0 to 2 seconds, a dog barks; from 3 to 5 seconds, a cat meows => dog barks 0.0-2.0 < cat meows 3.0-5.0
        [0.0-2.0] dog barking, [3.0-5.0] cat meowing => dog barking 0.0-2.0 < cat meowing 3.0-5.0
        0-2s: dog barking, 3-5s: cat meowing => dog barking 0.0-2.0 < cat meowing 3.0-5.0
        Dog (0-2 s) and cat (2-4 s) and cow (2-5 s) => dog 0.0-2.0 < cat 2.0-4.0 | cow 2.0-5.0
        Alarm at 5s; glass shattering at 2s => glass shattering 2.0-None < alarm 5.0-None
        Glass shatters at 00:02 and an alarm sounds at 1:05.5 => glass shatters 2.0-None < alarm sounds 65.5-None
        An oink at 2.0 to 2.3 seconds, then slams at 3.5 to 4.6 seconds and 5.8 to 6.4 seconds => oink 2.0-2.3 < slams 3.5-4.6
        burping at 0.323-3.28, 4.07-6.229, 7.049-9.208 => burping 0.323-3.28
        A yip is heard twice, from 2.7 to 5.9 seconds and again from 6.4 to 9.6 seconds => yip 2.7-5.9
        """  # noqa: E501
    ),
)
def test_stated_times_are_read_and_decide_the_order(caption: str, expected: str) -> None:
    parsed = parse(caption)
    timed = [f"{p.text} {p.onset_s}-{p.offset_s}" for p in parsed.phrases]
    assert " < ".join(" | ".join(timed[i] for i in group) for group in parsed.groups) == expected


def test_equal_onsets_state_no_order() -> None:
    assert parse("dog barking at 1.0-3.0 and cat meowing at 1.0-2.0").reason


def test_distances_and_rates_are_no_times() -> None:
    parsed = parse("A horse gallops at 10.5 km away, then a bell rings at 2.5 kHz")
    assert [phrase.onset_s for phrase in parsed.phrases] == [None, None]


@pytest.mark.parametrize(
    "caption",
    [
        "<b>dog barking</b> then <script>alert(1)</script> cat meowing",
        "<i>dog barking</i> followed by &quot;cat meowing&quot;",
        "=dog barking, then +cat meowing",
        "@dog barking then -cat meowing",
        "dog_barking_followed_by_a_cat_meowing.wav",
        "a-dog-barking-then-a-cat-meowing",
        "  dog barking\n\tthen\u200b cat   meowing ",
        "**dog barking** then `cat meowing` https://example.org/a?then=b",
        "Dog barking &amp; then cat meowing<!-- before -->",
    ],
)
def test_markup_does_no_harm_and_words_still_count(caption: str) -> None:
    parsed = parse(caption)
    assert said(parsed) == "dog barking < cat meowing"
    assert "<" not in parsed.text
    assert "alert" not in parsed.text


def test_unicode_is_kept() -> None:
    assert (
        said(parse("Ein Köter bellt, then 猫が鳴く, then un perro"))
        == "ein Köter bellt < 猫が鳴く < un perro"
    )


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("", "the caption is empty"),
        ("  \n", "the caption is empty"),
        ("<br/>", "the caption is empty"),
        ("n/a", "placeholder"),
        ("(RiTTA composed reference; caption not in repo html)", "placeholder"),
        ("no caption", "placeholder"),
        ("123 ...", "the caption has no words"),
        ("and then", "no event is named"),
    ],
)
def test_what_is_no_caption_says_so(caption: str, reason: str) -> None:
    parsed = parse(caption)
    assert parsed.reason == reason
    assert parsed.phrases == ()
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        reverse(caption)


@pytest.mark.parametrize(
    ("caption", "reversal"),
    table(
        """
        A followed by B => B followed by A
        A preceded by B => B preceded by A
        A dog barks before a cat meows => A cat meows before a dog barks
        After a dog barks, rain falls => After rain falls, a dog barks
        First a cough, next a sneeze, then a laugh => First a laugh, next a sneeze, then a cough
        A dog barks. Then a cat meows. => A cat meows. Then a dog barks.
        generate dog audio followed by cat audio => generate cat audio followed by dog audio
        A man talks while birds chirp, then a dog barks => A dog barks, then a man talks while birds chirp
        dog barking at 1.2-3.0 and cat at 5.0-6.1 => cat at 1.2-3.0 and dog barking at 5.0-6.1
        Three consecutive sounds: a cough, a sneeze and a laugh => Three consecutive sounds: a laugh, a sneeze and a cough
        A cat meows, it meows again, then music plays => Music plays, then a cat meows
        A violin plays, interrupted by a phone ringing => A phone ringing, then a violin plays
        <b>A dog barks</b> then a cat meows => A cat meows then a dog barks
        """  # noqa: E501
    ),
)
def test_the_reversal_keeps_the_style_of_the_caption(caption: str, reversal: str) -> None:
    assert reverse(caption) == reversal


@pytest.mark.parametrize(
    "caption", [caption for caption, expected in table(PLAIN) + table(SENTENCES) if "<" in expected]
)
def test_a_reversal_is_read_as_the_reversed_sequence(caption: str) -> None:
    assert_reversed(caption)


EVENTS = (
    "a dog barks", "a man speaking", "thunder", "two gunshots", "the crowd cheers", "glass shattering",
    "a siren wailing in the distance", "loud footsteps on gravel", "someone coughs", "rain on a tin roof",
)  # fmt: skip
NEXT = (
    ", then {}",
    " followed by {}",
    ", followed shortly after by {}",
    " before {}",
    ", and finally {}",
    ". Then {}",
)
JOIN = (" while {}", " and {}", " as {}")


@st.composite
def told_captions(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """A caption told with random connectives, and the groups it was told from."""
    events = draw(st.lists(st.sampled_from(EVENTS), min_size=2, max_size=6, unique=True))
    caption, groups = events[0], [[events[0]]]
    for event in events[1:]:
        if draw(st.booleans()):
            caption += draw(st.sampled_from(NEXT)).format(event)
            groups.append([event])
        else:
            caption += draw(st.sampled_from(JOIN)).format(event)
            groups[-1].append(event)
    return caption, groups


@given(told_captions())
@settings(deadline=None)
def test_a_told_sequence_is_read_back_and_reversed(told: tuple[str, list[list[str]]]) -> None:
    caption, groups = told
    bare = [[event.removeprefix("a ").removeprefix("the ") for event in group] for group in groups]
    parsed = parse(caption)
    assert [[parsed.phrases[i].text for i in group] for group in parsed.groups] == bare
    if len(groups) > 1:
        assert_reversed(caption)
    else:
        assert parsed.reason == "no order is stated between the events"


SCRAPS = """
    then after before followed by preceded and or while as with first finally at 1.2-3.0 from 2 to 3 seconds
    (0-1s) , . ; : - -> <b> </b> &amp; <script> A B dog barks the a it again silence pause another in that
    throughout background amid not no over all
    order sequence of generate audio if else 1. 2) until once there is comes a few later ' " ( ) _ = + @ é 猫
"""


@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(SCRAPS.split()), max_size=25).map(" ".join),
        st.text(string.printable),
    )
)
@settings(deadline=None, max_examples=500)
def test_any_string_is_parsed_and_reversed_or_refused(caption: str) -> None:
    parsed = parse(caption)
    placed = [i for group in parsed.groups for i in group]
    assert placed == list(range(len(parsed.phrases)))[: len(placed)]
    assert bool(placed) == bool(parsed.phrases)
    assert all(parsed.groups)
    assert all(phrase.text.strip() for phrase in parsed.phrases)
    steps = zip(parsed.groups, parsed.groups[1:], strict=False)
    assert set(parsed.precedences) == {(i, j) for one, other in steps for i in one for j in other}
    assert bool(parsed.reason) == (len(parsed.groups) < 2)
    assert parse(caption) == parsed
    try:
        reversal = reverse(caption)
    except ValueError:
        return
    back = parse(reversal)
    words = [[parsed.phrases[i].text for i in group] for group in parsed.groups]
    assert [[back.phrases[i].text for i in group] for group in back.groups] == words[::-1]


def benchmark() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "benchmarks" / "captions.py"
    spec = importlib.util.spec_from_file_location("captions_benchmark", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.realdata
def test_public_captions_are_read_right(shared_data: Path) -> None:
    bench = benchmark()
    folder = shared_data / "captions"
    for cases, joins in (
        (list(bench.audiotime(folder, "ordering")), False),
        (list(bench.audiotime(folder, "timestamp")), False),
        (list(bench.ritta(folder)), False),
        ([case for case in bench.ttabench(folder) if bench.STATES_ORDER.search(case.caption)], True),
    ):
        assert len(cases) >= 200
        assert sum(bench.verdict(case, joins)[0] for case in cases) >= 0.95 * len(cases)


@pytest.mark.realdata
def test_generated_clips_that_state_an_order(shared_data: Path) -> None:
    with (shared_data / "generated" / "metadata.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    parsed = [parse(row["caption"]) for row in rows]
    ordered = [p for p in parsed if not p.reason]
    assert sum(all(phrase.onset_s is None for phrase in p.phrases) for p in ordered) == 41
    assert all(p.reason or p.precedences for p in parsed)
    for p in ordered:
        assert_reversed(p.text)
