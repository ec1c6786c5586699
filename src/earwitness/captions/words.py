"""The words the caption parser knows, as sets of lower-case words, and what it asks of a word."""

import re
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("a an the")
DETERMINERS = ARTICLES | _words(
    "some several many multiple various another other one two three four five six more different both "
    "his her its their my your someone's somebody's"
)
PRONOUNS = _words("it he she they which that")
OTHER = _words("another other second third different")
QUIET = _words("silence silences silent silenced quiet quietness stillness hush")
PAUSE = _words("pause pauses paused pausing gap break breaks lull")
RESUME = _words("again repeat repeats repeated repeating resume resumes resumed continue continues continued")
AGAIN = RESUME | _words("another more same second third fourth fifth final further")

# Words that name nothing to be heard by themselves.
VOID = (
    DETERMINERS
    | PRONOUNS
    | PAUSE
    | AGAIN
    | _words(
        """begin begins began begun beginning start starts started starting stop stops stopped stopping cease
        ceases ceased ceasing end ends ended ending finish finishes finished finishing continuing resuming
        this these those all any each every him himself herself itself themselves who what whose is are
        was were be been being am has have had having do does did so doing can could may might will would
        there there's it's here also too just only still already not no occur occurs occurred occurring
        happen happens happened happening place heard hear hears audible ensue ensues ensued come comes
        came coming last lasts lasted lasting remain remains once twice thrice time times first next later
        finally of in on at to by from for off up down out and or but then with into onto over after
        before between while when as during occurrence occurrences occasion occasions instance instances
        interval intervals seconds sec s ms minute minutes moment moments bit few couple period periods
        duration way contributing row loop extended layered arranged presented"""
    )
)
PERSONS = _words(
    """man men woman women boy boys girl girls child children kid kids baby babies infant infants toddler
    adult adults male males female females person persons people crowd crowds audience group groups guy guys
    lady ladies gentleman teenager speaker speakers someone somebody something individual individuals"""
)
COUNTING = _words(
    "single lone separate distinct consecutive successive singular brief short constant continuous"
)
ADJECTIVES = COUNTING | _words(
    """loud soft quiet faint distant nearby long sharp deep high low pitched high-pitched low-pitched rapid
    quick slow sudden gentle light heavy hard big large small little tiny huge young old older younger
    elderly clear muffled steady intermittent occasional repetitive rhythmic metallic wooden bright dull
    strong weak busy random fast slight subtle harsh hollow high-frequency low-frequency great whole entire
    mid"""
)
DESCRIBING = ADJECTIVES | DETERMINERS
# What opens with one of the first only says where; with one of the others, unless it names a sound.
PLACES = _words("from of near inside outside like under behind through against across including such toward")
PREPOSITIONS = _words("in on at by to for up down over into onto with during")

ANIMALS = _words(
    """dog cat bird cow pig sheep goat horse duck rooster chicken hen frog owl crow pigeon insect bee mosquito
    cricket wolf lion lamb turkey goose seagull gull animal puppy kitten fly mouse rat snake whale elephant"""
)
# In any of its forms, each is an event even as a bare word: "rain and thunder".
_SOUNDS = ANIMALS | _words(
    """sound noise laughter laugh applause music speech thunder rain wind static silence footstep siren alarm
    bell horn gunshot gunfire explosion beep bleep click clack clank clang clink thud thump bang crash smash
    whistle engine motor chime buzz hum hiss ring roar splash squeak squeal creak crack crackle knock tap
    cough sneeze sigh gasp scream shriek yell shout bark meow purr chirp tweet growl howl whimper moo oink
    quack bleat neigh hoot caw croak cluck snore breath burp hiccup fart giggle chuckle cry sob sing song
    talk speak whisper mumble chat chatter cheer clap applaud boo snap pop whoosh swoosh rattle rustle
    rumble scrape scratch grind drill saw hammer jingle jangle tick ding dong drip gurgle trickle pour flush
    sizzle fizz bubble wave drum guitar piano violin trumpet whir whine wail screech honk toot blast burst
    boom voice conversation traffic heartbeat rainfall thunderclap footfall drumroll firework water
    waterfall crunch slam shatter plop yip groan grunt moan murmur slap smack spray sniff snort gulp chew
    spit tear rip vibrate vibration helicopter airplane aircraft train truck car motorcycle bus vehicle
    telephone phone doorbell vacuum keyboard ambulance jackhammer chainsaw crumple crinkle tune melody beat
    lightning storm stream babble squelch zip"""
)
_NOT_GERUNDS = _words(
    "morning evening thing something nothing anything everything during spring string building ceiling king "
    "wing wings sibling clothing being going having doing"
)
_NOT_ADVERBS = _words("fly belly family assembly")
_SUFFIX = re.compile(r"(?:['’]s?|ing|ed|es|s)$")
_IRREGULAR = {
    "spoke": "speak", "spoken": "speak", "speech": "speak", "talk": "speak", "talks": "speak",
    "talking": "speak", "talked": "speak", "sang": "sing", "sung": "sing", "song": "sing",
    "rang": "ring", "rung": "ring", "laughter": "laugh", "blew": "blow", "bit": "bite", "tore": "tear",
    "broke": "break", "wept": "weep", "mice": "mouse", "geese": "goose", "wolves": "wolf",
    "flies": "fly", "cries": "cry", "cried": "cry", "applause": "applaud", "thunderclap": "thunder",
}  # fmt: skip
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its ending, enough to see that "barks" and "barking" name one sound."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    bare = _SUFFIX.sub("", word)
    if len(bare) < 3:
        return word
    if len(bare) > 3 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare.rstrip("e").removesuffix("i").removesuffix("y") or bare


GENERIC = frozenset(map(stem, ("sound", "noise")))
_SOUND_STEMS = frozenset(map(stem, _SOUNDS))


@lru_cache(maxsize=65536)
def is_sound(word: str) -> bool:
    """Whether a word (lower case) names an event by itself: a known sound or source, or a gerund."""
    gerund = len(word) > 4 and word.endswith("ing") and word not in _NOT_GERUNDS
    return gerund or (stem(word) in _SOUND_STEMS and word not in ADJECTIVES)


@lru_cache(maxsize=65536)
def tells(word: str) -> bool:
    """Whether a word (lower case) may tell what is heard, and not just how, how often or by whom."""
    return word not in VOID and word not in ADJECTIVES and not adverb(word)


def adverb(word: str) -> bool:
    return word.endswith("ly") and word not in _NOT_ADVERBS
