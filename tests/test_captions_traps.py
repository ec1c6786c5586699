"""Captions easily misread: backgrounds, negations, "after" and "before" that are no words of order."""

import pytest

from captioned import assert_reversed, said, table
from earwitness.captions import parse, reverse

BACKGROUNDS = """
A dog barks, then a cat meows with rain in the background => dog barks < cat meows & rain in the background
A dog barks, then a cat meows with rain and wind in the background => dog barks < cat meows & rain & wind in the background
A dog barks, then a cat meows while music plays in the background => dog barks < cat meows & music plays in the background
A dog barks, then a cat meows, with music throughout => dog barks < cat meows & music throughout
A dog barks, then a cat meows. Rain falls throughout. => dog barks < cat meows & rain falls throughout
A dog barks, then a cat meows, all while it is raining and the wind howls => dog barks < cat meows & raining & wind howls
A dog barks, then a cat meows amid traffic noise => dog barks < cat meows & traffic noise
Amid traffic noise, a dog barks, then a cat meows => dog barks < cat meows & traffic noise
A dog barks then a cat meows over traffic noise => dog barks < cat meows & traffic noise
A dog barks then a cat meows over the sound of rain => dog barks < cat meows & rain
With music in the background, a dog barks and then a cat meows => dog barks < cat meows & music in the background
In the background, rain falls, and a dog barks before a cat meows => dog barks < cat meows & rain falls
A dog barks, then music plays in the background => dog barks < music plays in the background
Thunder rumbles in the background before rain falls => thunder rumbles in the background < rain falls
Throughout, rain falls. A dog barks, then a cat meows => dog barks < cat meows & rain falls
A dog barks, then a cat meows; the wind blows the whole time => dog barks < cat meows & wind blows the whole time
A dog barks with rain in the background, then a cat meows => dog barks < cat meows & rain in the background
A man speaks, then, amid applause, a bell rings => man speaks < bell rings & applause
Rain falls throughout. => rain falls throughout
In a busy kitchen, with pans clattering throughout, a chef yells, then a plate breaks. => chef yells < plate breaks & pans clattering throughout
A woman sings, accompanied throughout by a piano, then an audience applauds. => woman sings < audience applauds & piano
As rain falls in the background, a man whistles before a bus passes. => man whistles < bus passes & rain falls in the background
A bird chirps continuously throughout while a man coughs, then sneezes => man coughs < sneezes & bird chirps continuously throughout
Rain and thunder throughout, a man coughs then sneezes => man coughs < sneezes & rain & thunder throughout
A car starts, idles, then drives off, with a radio playing throughout the recording. => car starts, idles < drives off & radio playing throughout the recording
Wind blows strongly throughout, with a dog barking at first and a car passing by later on. => dog barking < car passing by & wind blows strongly throughout
An adult male speaks, over the sound of a crowd, and then a whistle blows => adult male speaks < whistle blows & crowd
A machine whirs in the background all the time while a man hammers and then drills. => man hammers < drills & machine whirs in the background all the time
Church bells ring amid birdsong before a choir sings => church bells ring < choir sings & birdsong
While music plays in the background, a phone rings and is then answered by a woman => phone rings < answered by a woman & music plays in the background
A plane takes off over city traffic => plane takes off & city traffic
A clock strikes twelve, whereupon wolves howl, all while the wind moans => clock strikes twelve < wolves howl & wind moans
A dog barks, then a cat meows against a backdrop of rain => dog barks < cat meows & backdrop of rain
Goggles adjust against the wind, then a man speaks with no background noise and a bell rings => goggles adjust against the wind < man speaks with no background noise | bell rings
"""  # noqa: E501

ORDERED = """
A door opens, prior to which a man coughs => man coughs < door opens
A door opens, before which a man coughs => man coughs < door opens
A door opens, preceding which a man coughs => man coughs < door opens
A man shouts after a woman screams => woman screams < man shouts
A man shouts after a gunshot => gunshot < man shouts
A man speaks before a crowd cheers => man speaks < crowd cheers
A man speaks before a crowd of people cheers => man speaks < crowd of people cheers
A man shouts after a woman, then a bell rings => man shouts after a woman < bell rings
A sneeze comes after, not before, a cough => cough < sneeze
No dog barks before a cat meows, then a cow moos => cat meows < cow moos
A dog barks, then a cat meows. No music. => dog barks < cat meows
A dog barks and does not stop, then a cat meows => dog barks and does not stop < cat meows
A horn honks then again a dog barks => horn honks < dog barks
A dog, after a doorbell, barks => doorbell < dog barks
A dog barks, shortly thereafter an alarm => dog barks < alarm
Rain is replaced with birdsong => rain < birdsong
Rain is replaced by birdsong => rain < birdsong
A truck passes, once it is gone, birds chirp => truck passes < birds chirp
A truck passes. Once it's gone, birds chirp => truck passes < birds chirp
A whistle blows, an explosion follows it => whistle blows < explosion
A whistle blows and an explosion follows it. => whistle blows < explosion
The second sound is a cough and the first is a sneeze => sneeze < cough
Knock (first), bark (second) => knock < bark
Bark (second), knock (first) => knock < bark
Successively: a cough, a sneeze => cough < sneeze
A cat meowing, but only after a dog barks => dog barks < cat meowing
A dog yelps a second after a car honks => car honks < dog yelps
A dog yelps a second before a car honks => dog yelps < car honks
A dog yelps, a second later a car honks => dog yelps < car honks
Dog barking is followed by a cat => dog barking < cat
Dog barking is then followed by a cat => dog barking < cat
Dog barking is before a cat => dog barking < cat
An explosion to be followed by a siren => explosion < siren
An explosion to precede a siren => explosion < siren
A man (speaking) then a dog (barking) => man (speaking) < dog (barking)
A man says "hello" then a dog barks => man says "hello" < dog barks
"A man speaks" then "a dog barks" => man speaks < dog barks
A cat meowing, but only once, then a dog barks => cat meowing < dog barks
A cat meowing, but only then a dog barks => cat meowing < dog barks
A dog yelps a second, then a car honks => dog yelps < car honks
A gunshot rings out. Moments before, a man screams. => man screams < gunshot rings out
Glass breaks, and only then does an alarm ring. => glass breaks < alarm ring
First comes applause, then a man begins speaking before the audience. => applause < man begins speaking before the audience
A dog barks, followed by a cat, and finally a door closing, all without any speech. => dog barks < cat < door closing
A rooster crows before dawn, then cows moo. => rooster crows before dawn < cows moo
A woman speaks over a loud engine, then a dog barks => woman speaks over a loud engine < dog barks
A dog barks over and over, then a cat meows => dog barks over and over < cat meows
A helicopter flies over, then a gun fires => helicopter flies over < gun fires
An orchestra plays under thunderous applause, followed by silence => orchestra plays under thunderous applause < silence
Footsteps throughout the house, then a door slams => footsteps throughout the house < door slams
Music plays all the while a man talks, then applause => music plays | man talks < applause
A door opens before which there is a knock. => knock < door opens
A knock is heard, prior to this footsteps approach. => footsteps approach < knock
A gun fires preceding that of a scream. => gun fires < scream
A dog that never barks growls, then a cat hisses => dog that never barks growls < cat hisses
An engine that won't start sputters, then a man curses => engine that won't start sputters < man curses
There's no music, just rain followed by thunder => rain < thunder
Without warning, a bomb explodes, then people scream => bomb explodes < people scream
A man speaks not once but twice, then a bell rings => man speaks < bell rings
A man, followed by a woman, speaks => man speaks < woman
A cat, before a dog barks, meows => cat meows < dog barks
A police officer runs after a thief, then a gunshot rings out => police officer runs after a thief < gunshot rings out
A man sings before an audience claps => man sings < audience claps
A speech before a crowd, followed by applause => speech before a crowd < applause
A truck goes after a car honks => car honks < truck goes
Beep (1), click (2), thud (3) => beep < click < thud
(1) beep (2) click (3) thud => beep < click < thud
First: beep. Second: click. => beep < click
Dog barking comes first and cat meowing second => dog barking < cat meowing
The last sound is a bell and the first is a drum => drum < bell
The first is a bell, the second a drum, the third a horn => bell < drum < horn
Bell, which is then replaced with a drum => bell < drum
After the music fades, a man speaks => music fades < man speaks
Once the rain stops, birds chirp => rain stops < birds chirp
A drum follows a bell => bell < drum
A drum follows the bell, and a horn follows it => bell < drum < horn
A siren, and following it an explosion => siren < explosion
In succession: a bell, a drum => bell < drum
In that order, a bell and a drum => bell < drum
A bell and a drum, in that order => bell < drum
A bell or a drum, then a horn => bell or a drum < horn
A woman gives a speech before an audience applauds => woman gives a speech < audience applauds
An elevator dings prior to its doors opening => elevator dings < its doors opening
Fireworks explode, each preceded by a whistle => whistle < fireworks explode
A man whispers, not wanting to be heard, then a floorboard creaks => man whispers < floorboard creaks
A cow moos, preceded moments earlier by a bell => bell < cow moos
A tram passes over rails, then its bell dings => tram passes over rails < its bell dings
A toddler babbles, interrupted twice by a cough => toddler babbles < cough
A bell rings or a horn honks, not both, then a dog barks => bell rings or a horn honks, not both < dog barks
A goat bleated for just under a second, followed by a drill for half a second => goat bleated < drill
"""  # noqa: E501

UNORDERED = """
A police car chases after a motorcycle with sirens => police car chases after a motorcycle with sirens
A man shouts after a woman => man shouts after a woman
A man yells after a bus => man yells after a bus
A boy calls after his dog => boy calls after his dog
A man speaks before a large crowd in a stadium => man speaks before a large crowd in a stadium
A band plays before a live audience => band plays before a live audience
A man speaks before a crowd of people => man speaks before a crowd of people
A dog barks not followed by a cat => dog barks | cat
An explosion isn't followed by a siren => explosion | siren
A sneeze doesn't come before a cough => sneeze | cough
There is no barking until a doorbell rings => doorbell rings
No dog barks before a cat meows => cat meows
A dog does not bark until a bell rings => bell rings
The bell didn't ring before the whistle blew. => whistle blew
Neither a dog barks nor a cat meows before a bell rings => bell rings
A dog chases after a squirrel and barks => dog chases after a squirrel | barks
A mother calls after her child as a train passes => mother calls after her child | train passes
A bell and a drum, not in that order => bell | drum
A woman gives a speech before an applauding crowd => woman gives a speech before an applauding crowd
"""


@pytest.mark.parametrize(("caption", "expected"), table(BACKGROUNDS) + table(ORDERED) + table(UNORDERED))
def test_the_stated_order_is_read_and_no_other(caption: str, expected: str) -> None:
    parsed = parse(caption)
    assert said(parsed) == expected
    assert bool(parsed.reason) == ("<" not in expected)
    assert bool(parsed.precedences) == ("<" in expected)


@pytest.mark.parametrize(
    "caption", [caption for caption, expected in table(BACKGROUNDS) + table(ORDERED) if "<" in expected]
)
def test_a_reversal_is_read_as_the_reversed_sequence(caption: str) -> None:
    assert_reversed(caption)


def test_a_background_is_in_no_precedence_and_stays_where_it_was() -> None:
    caption = "A dog barks with rain in the background, then a cat meows"
    parsed = parse(caption)
    assert [phrase.text for phrase in parsed.phrases] == ["dog barks", "cat meows", "rain in the background"]
    assert parsed.precedences == ((0, 1),)
    assert parsed.groups == ((0,), (1,))
    assert reverse(caption) == "A cat meows with rain in the background, then a dog barks"


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A dog barks not followed by a cat", "the caption negates an order, so it states none"),
        ("A sneeze doesn't come before a cough", "the caption negates an order, so it states none"),
        (
            "There is no barking until a doorbell rings",
            "an event is negated, and no order is stated between others",
        ),
    ],
)
def test_a_negation_is_given_as_the_reason(caption: str, reason: str) -> None:
    assert parse(caption).reason == reason
    with pytest.raises(ValueError, match=reason):
        reverse(caption)


def test_stated_times_order_a_background_only_if_it_has_one() -> None:
    timed = "dog barking at 1-2 seconds, rain in the background at 3-4 seconds"
    assert said(parse(timed)) == "dog barking < rain in the background"
    untimed = "cat meowing at 3-4 seconds and dog barking at 1-2 seconds with rain in the background"
    assert said(parse(untimed)) == "dog barking < cat meowing & rain in the background"
