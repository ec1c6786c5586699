"""What ties the events of a caption together, as patterns.

They are matched without regard to case on text whose white space is folded to single spaces. In a
table every line is one alternative, the longer ones first; ``{name}`` stands for a pattern above it.
"""

from earwitness.captions.words import ANIMALS, PERSONS


def _any(table: str) -> str:
    return "|".join(line.strip() for line in table.strip().splitlines())


_UNITS = r"(?:bit|moments?|while|seconds?|s|minutes?)"
_AMOUNT = (
    r"(?<!for )(?:an?|one|two|three|four|five|ten|several|some|about|around|[\d.]+) ?"
    r"(?:few |little |couple of |short |brief )?"
)
_DISTANCE = (
    r"(?:shortly|soon|right|just|immediately|directly|straight|long|not long|some ?time|"
    rf"{_AMOUNT}{_UNITS})"
)
_ADVERB = (
    r"(?:almost|immediately|instantly|directly|quickly|swiftly|rapidly|shortly|closely|soon|suddenly|right|"
    r"just|straight|briefly|promptly|abruptly|only|eventually|finally|sequentially|subsequently|later|"
    rf"in turn|ultimately|afterwards?|thereafter|very|moments?|some ?time|{_AMOUNT}{_UNITS}(?! of ))"
)
_THEN = rf"(?:,? {_ADVERB}(?![\w’'-]))*"
_TWICE = r"(?: (?:once|twice|repeatedly|earlier|beforehand))?"
_ENDS = r"(?:ends?|ending|conclud(?:es?|ing|ed)|finish(?:es|ing|ed)|culminat(?:es?|ing)|capped)(?: off)?"
_SOUND = r"(?:(?:sound|event|noise|one)(?: heard)? )?"
_BACK = r"(?:that(?! of)|this|which)(?:[ ,]|$)"  # "before which": what comes next begins first
_IT = r"(?:it|that|this|they|these)"
_GONE = (
    r"(?:gone|over|done|finished|stopped|ended|passed|faded|subsided|quiet|silent|stops|ends|fades|passes)"
)

# What comes next begins after what came before.
NEXT = _any(
    rf"""
    follow(?:ed|ing)?(?: up)?{_THEN}(?: after|,[^,.;]{{1,40}},)? (?:by|with)
    (?:proceeded|succeeded|interrupted|broken|cut (?:off|short)){_THEN}{_TWICE} by
    replaced{_THEN} (?:by|with)
    then{_THEN}(?:,? after (?:that|this|which))?
    (?:after|following) (?:that|this|which)(?=[ ,])
    (?:after|following) (?:it|them)(?=,| an? | the | some |(?: \w+)? \w+ing\b)
    after(?=,)
    afterwards?(?= (?:an?|the|some|there) )
    precedes?|preceding(?! {_BACK})|preceded(?! (?:\w+ ){{0,3}}by\b)
    before and (?:again )?after
    whereupon|thereupon|earlier than
    prior to(?! {_BACK})
    until|till
    leads? (?:in)?to|leading (?:in)?to|gives? way to|giving way to|transition(?:s|ing)? (?:in)?to
    triggers|triggering
    (?:it |the \w+ )?{_ENDS} (?:with|in|by)
    (?:it |the \w+ )?continues with
    the (?:second|third|fourth|fifth|next|last|final) {_SOUND}(?:is|was|being)
    """
)
# The same, but only where a clause begins.
_OPENERS = _any(
    rf"""
    finally|lastly|last|at last|ultimately|eventually|next|subsequent(?:ly)?|secondly|thirdly|fourthly
    (?:(?:shortly|soon|right|just|immediately|directly|not long|long) )?(?:afterwards?|thereafter)
    (?:once|after|when|as soon as) {_IT}(?:['’](?:s|re)| is| are| has| have)? {_GONE}(?: away)?
    later(?: on)?|(?:moments|seconds|{_AMOUNT}{_UNITS}) later
    after {_AMOUNT}(?:{_UNITS}|pause|silence)(?! of )
    (?:at|in) the end(?! of)
    the (?:second|third|fourth|fifth|last|final)(?= an? | the )
    (?<!^)(?:second|third|fourth|fifth)(?=[,:]| an? | the | some | (?:\w+ )?\w+ing\b| \w(?:\W|$))
    """
)
CLAUSE_NEXT = rf"(?:{_OPENERS})(?=[ ,:])"
NUMBER = r"(?<!at )(?<!for )\(?[2-9][.)](?= )"  # of a numbered list
ARROW = r"-+>|=+>|→|⇒|»|(?<= )>(?= )"
BEFORE = rf"before(?= \w)(?! {_BACK})"

# What comes next begins before what came before.
AFTER = (
    r"(?:(?:but only |only )?after|but only (?:once|when)|as soon as|subsequent to|later than)(?= )"
    r"(?! (?:it|them|that|this)(?:[.,;]|$))|"
    r"once(?= (?:an?|the|some\w*) (?!second|minute|hour|day|while))"
)
# ... unless "a dog follows a man" or "a bell follows shortly".
FOLLOWS = (
    r"(?:follows|following)(?= (?!\w+ly\b|soon|right|later|close|behind|along|after|him|her|them|it|suit)\w)"
)
PRECEDED = rf"preceded{_THEN}{_TWICE} by"
EARLIER = r"(?:before|prior to|preceding) (?:that(?! of)|this|which)(?=[ ,]|$)|but (?:at )?first"
EARLIER += r"|(?:(?:moments|seconds|shortly|just|right) (?:before|earlier)|earlier|beforehand)(?=,)"

# Words in front of such a connective that belong to it.
LEFT_OF_NEXT = rf"(?:(?:^|[ ,]+)(?:{_ADVERB}|is|are|was|were|being|gets?|which|that|who|and|but|all|it))+ *$"
LEFT_OF_AFTER = (
    rf"(?:(?:^|[ ,]+)(?:{_DISTANCE}|and|but|only|exactly|that|which|(?:com|occur|happen)(?:es?|s|ing)|came))+"
    r" *$"
)

# Marks on one event, in front of it or behind it.
FIRST = _any(
    rf"""
    the first {_SOUND}(?:is|was|being)
    first(?:ly| off| of all)?|initially|at first
    in the beginn?ing|at the (?:beginn?ing|start|outset)|to (?:start|begin)(?: with)?
    \(?1[.)]
    """
)
EARLY = r"(?<!at )(?:having |coming |comes |heard |occurring )*(?:come )?\(?(?:first|beforehand)"
_CLOSERS = _any(
    r"""
    (?:(?:shortly|soon|right|just|immediately) )?after(?:wards?| it| them| that| this)?|later(?: on)?
    thereafter|subsequently|next|last|follow(?:s|ed|ing)?(?: (?:it|that|this|them))?
    (?<!a )(?<!one )(?<!split )(?<!per )second|third|fourth|fifth
    (?:at|near|in|towards?) the (?:very )?end|in the middle|to (?:finish|end|close|conclude)|end it
    """
)
_COMES = r"(?:(?:coming|comes|is|are|heard|played|playing|occurring|occurs|happening|happens) )*"
LATER = rf"{_COMES}\(?(?:{_CLOSERS})"

# These only say that sounds go together.
_ALL_ALONG = (
    r"(?:throughout(?! (?:an?|the|his|her|its|their) (?!(?:whole |entire )?(?:clip|recording|audio|scene)))|"
    r"all the while|all (?:along|the time)(?! \w)|the (?:whole|entire) time)"
)
_GERUND = r"(?!string|thing|wing)[\w-]{2,}ing\b"
TOGETHER = _any(
    rf"""
    (?:all the )?while|whilst|meanwhile|as well as|as|when(?:ever)?|along(?:side| with)|together with
    at the same time(?: as)?|simultaneous(?:ly)? with|overlapp(?:ed|ing) (?:by|with)
    (?:and )?(?:(?:is|are|was|were) )?(?:accompanied|joined|punctuated|accented|underscored) by
    with(?= (?:(?!pause|break|gap|silence|and|or|then|followed)[\w’'-]+ ){{0,4}}?{_GERUND})
    with(?= (?:some|several|multiple|distant|faint|nearby|background|occasional|intermittent) )
    with(?= [^,.;]{{1,60}}? (?:in (?:the )?(?:background|distance)|{_ALL_ALONG}))
    """
)
# What these open sounds all along, so it begins at no stated place in the sequence ...
_STOPS = r"(?=[.,;!?]|$| (?:of|from|in|and|then|while|as|with|before|after|followed)\b)"
_HUM = (
    r"(?:traffic|music|rain|wind|static|chatter|noises?|sounds?|hum|din|roar|rumble|murmur|backdrop|"
    r"background)"
)
ALONG = _any(
    rf"""
    (?<=, )all the while(?= \w)|all while|amid(?:st)?|(?:accompanied|joined) (?:throughout|all along) by
    against(?= (?:an?|the) (?:\w+ )?(?:backdrop|background)\b)
    (?:over|above|on top of)(?= (?:an? |the )?(?:\w+ ){{0,2}}?{_HUM}(?: {_HUM})*{_STOPS})
    (?<=[.;,] ){_ALL_ALONG}(?=,)|^{_ALL_ALONG}(?=,)
    """
)
# ... and so does what these words mark; a mere "in the background" only where it is joined to an event.
EVER = _ALL_ALONG
BACKGROUND = r"(?<!no )(?<!any )background|as (?:an?|the) backdrop"
# "After the rain comes the sun": where the main clause begins without a comma.
THERE = r"(?:comes?|came)(?= an? | the | some )|there(?:['’]s| is| are| was| were)"

# "A dog barks. A cat then meows": a mark between the one who acts and the act.
INSIDE = (
    r"(?P<before>[.;!?] |,? and )(?P<who>(?:an?|the) (?:[\w’'-]+ ){1,3})"
    r"(?P<mark>then|later|subsequently|finally|eventually|afterwards) (?=(?:\w+ly )?\w+(?:s|ed)\b)"
)

# "A dog, after a doorbell, barks", and "after, not before, a cough".
SPLIT = (
    r"(?:^|(?<=[.;!?] ))(?P<who>(?:an?|the) (?:[\w’'-]+ ){0,2}?(?P<actor>[\w’'-]+)), "
    r"(?P<when>(?:\w+ )?(?:after|before|following|followed by|preceded by) [^,.;]+), "
    r"(?P<act>(?:\w+ly )?[\w’'-]+(?:s|ed)\b[^,.;]*)"
)
_RELATION = r"(?:after|before|prior to|(?:follow|preced)\w*(?: by)?)"
REBUTTED = rf"(?<=[ ,])(?P<stands>{_RELATION}), (?:and |but )?not {_RELATION},? "

# A negated order, and a negated event.
_NOT = r"(?:\b(?:not|neither|nor|(?<!like )never)|n['’]t)"
NEGATED_ORDER = (
    rf"{_NOT}(?: (?:\w+ly|be|been|being|come|occur|happen|begin|start|sound|heard|right|either))*"
    r" (?:follow|preced|before|after|then|succeed|lead|give|trigger|interrupt|prior|"
    r"in (?:\w+ )?(?:order|sequence|succession))"
)
NEGATED = (
    r"(?:all )?(?:there (?:is|are) )?(?:no|not|never|without|neither|nobody|nothing|none)\b"
    r"(?! (?:longer|more|sooner|only|far|too|so|very|long|just|quite|both)\b)|"
    r"(?:(?!that |who |which )[\w’'-]+ ){1,3}?(?:"
    r"(?:do|does|did|is|are|was|were|has|have|can|could|will|would|wo|ca)(?:n['’]t| not| never)|"
    r"cannot|never)(?! (?:stop|cease|end|quite|only)) \w"
)

# Words that say a list is told in order, behind it or in it; and in front of it.
_HOW = r"(?:(?:an?|the|this|that|exact|quick|rapid|clear|close|sequential|\w+ly) )*"
ORDERED = _any(
    rf"""
    (?<!times )(?<!twice )(?<!once )in {_HOW}(?:succession|order|sequence)
    one after (?:the other|another)|(?:sequentially|consecutively)(?= in |\W*$)
    """
)
_COUNT = r"(?:two|three|four|five|six|several|multiple|many|single|short|rapid|loud|\d)"
_EVENTS = r"(?:sounds|events|noises)"
ANNOUNCED = _any(
    rf"""
    (?:an? |the )?(?:\w+ )?(?:sequence|succession) of(?! {_COUNT}\b(?! {_EVENTS}))(?: (?:\w+ )?{_EVENTS}:?)?
    sequential(?! {_EVENTS})
    (?:the )?(?:{_COUNT} )?(?:sequential|consecutive|successive) {_EVENTS}(?: of|:)?
    """
)
AT_ONCE = r"simultaneous|concurrent|overlap"  # an announced list that is not in order after all
TELLS_ORDER = (
    r"sequen|success(?:ion|ive)|consecutive|chronolog|phases|progress(?:ion|es)|steps|in (?:\w+ )?order"
)

# How a caption may open before its first event.
_STORY = (
    r"(?:audio|sounds?|clip|recording|track|scene|sequence|soundscape|soundtrack|show|performance|"
    r"progression|story|journey|events?|process|day|morning|evening|night|experience)"
)
_OPENS = r"(?:start|begin|open|kick|commenc|initiat|began)\w*(?: off| out)?"
_MEDIUM = r"(?:sequence|recording|clip|tracks?|tracking|sample|scene|effect|file)"
_AUDIO = rf"(?:audio|sounds?|recording)(?:[ -]{_MEDIUM})?s?"
_A_CLIP = rf"(?:an? |the |this )?(?:short )?(?:{_AUDIO}|clip|scene|soundscape|track)"
_KIND = r"(?:(?:new|short|single|simple|realistic|stereo|mono|[\w.]+[ -]seconds?(?:[ -]long)?) )*"
_MAKE = (
    r"(?:please )?(?:generate|create|make|produce|synthesi[sz]e|compose|render|simulate|give|i want)(?: me)?"
)
_HOLDS = (
    r"(?:of|with|for|plays?|playing|that|which|where|in which|containing|featuring|contains|has|you hear|"
    rf"consisting of|{_OPENS} with)"
)
FRAME = _any(
    rf"""
    {_MAKE} (?:an? |the |some )?{_KIND}{_AUDIO}(?: {_HOLDS})*
    (?:please )?(?:generate|create|produce|synthesi[sz]e|simulate|play)
    (?:caption|prompt|description|text|audio|sound effects?|sfx|output) ?:
    {_A_CLIP} (?:with|where|in which|(?:that )?contain(?:s|ing)|featur(?:es|ing))
    (?:an? |the )?(?:short )?(?:(?:audio|sound) (?:clip|recording|track|sample|sequence)|recording) of
    (?:start|begin)\w*(?: off| out)? (?:with|as|by)
    (?:it |(?:an? |the |this )?(?:\w+ ){{0,2}}{_STORY},? ){_OPENS} (?:with|as|by)
    [^,.;:]{{0,50}}?\b(?:unfolds?|builds|evolves|progresses)(?: \w+ly| over time)?(?: with| as| from)
    """
)

# One sound named by several words: no comma or "and" inside splits it. Most are AudioSet's own
# names ("Thump, thud"; "Neigh, whinny"), the rest set phrases.
_ONE_SOUND = (
    ("thump", "thud"), ("slap", "smack"), ("beep", "bleep"), ("chirp", "tweet"), ("cr[iy]", "sob"),
    ("gurgl", "bubbl"), ("chuckl", "chortl"), ("neigh", "whinn"), ("waves?", "surf"), ("squeal", "skid"),
    ("accelerat", r"rev\w*(?:,? and|,) vroom"), ("accelerat", "rev"), ("burp", "eructat"), ("burp", "belch"),
    ("whoosh", r"swoosh\w*(?:,? and|,) swish"), ("whoosh", "swoosh"), ("crumpl", "crinkl"), ("honk", "toot"),
    ("pots?", "pans?"), ("dishes", "pots?,? and pans?"), ("tap", "faucet"), ("gunshot", "gunfire"),
    ("snicker", "giggl"), ("air horn", "truck horn"), ("ding", "dong"), ("clip", "clop"), ("rock", "roll"),
    ("turn", "off"), ("open", "clos"), ("start", "stop"), ("begin", "ceas"), ("begin", "stop"), ("on", "off"),
    ("loud", "clear"), ("high", "low"), ("black", "white"), ("up", "down"), ("back", "forth"), ("in", "out"),
    ("to", "fro"), ("nuts?", "bolts?"),
)  # fmt: skip
_DETERMINER = r"(?:(?:an?|the|his|her|its|their|another|some) )?(?:[\w-]+ ){0,2}?"
_WHERE = r"(?: (?:in|on|at|with|through|down|up|across|along|into|inside|outside|from|near|by|around)\b.*)?"
# "after" and "before" with these around them are no words of time: "shouts after a bus", "speaks before a
# live audience". The object ends with its noun or goes on with where: "a crowd cheers" is an event.
PURSUES = r"\b(?:runs?|ran|running|go(?:es|ing)?|went|(?:chas|shout|yell|call|scream|holler|wav)\w*) $"
PURSUED = (
    rf"{_DETERMINER}(?:{'|'.join(sorted(PERSONS | ANIMALS))}|bus|car|cab|taxi|van|train|tram|truck|"
    rf"motorcycle|motorbike|bicycle|bike|vehicle|boat|squirrel|rabbit|fox|deer|hare|thief|robber|suspect|ball|him|her|it|them)(?:e?s)?{_WHERE}"
)
ADDRESSED = (
    rf"{_DETERMINER}(?:crowd|audience|court|judge|jury|class|congregation|gathering|assembly|mirror|camera)s?"
    rf"(?: of \w+)?{_WHERE}"
)
_HOUR = r"(?:hours?|dark|dawn|sunset|sunrise|noon|midnight|school|lunch|dinner|breakfast)"
# Here "after", "before", "then" and the like say nothing about the order of sounds.
KEEP = "|".join(rf"{one}[\w’']*(?:,? and|,) {other}[\w’']*" for one, other in _ONE_SOUND) + "|"
KEEP += _any(
    rf"""
    (?P<same>[a-z]+)(?: after |-after-|, and | and )(?P=same)
    (?:look(?:s|ed|ing)?|named|modell?ed|sought|clean(?:s|ed|ing)? up|tak(?:es?|ing)|took) after
    after[- ](?:all|party|work|effects?|{_HOUR})
    (?:after|before) you|before (?:long|now|bed|bedtime|{_HOUR})
    (?:the )?(?:day|night|morning|week|evening|year)s? (?:after|before)(?! an? | the )
    (?:as|than|never|ever|like) before
    (?:every )?now and (?:then|again)
    (?:for|once in|quite) (?:an? |some )?(?:long |short |little |good )?while|all the while(?! \w)
    (?:since|until|till) (?:then|now)
    then-\w+|calm before
    as (?:if|though|usual|much|many|always|it|he|she|they|its?)
    as well(?! as)
    as (?:loud|fast|quick|soft|hard|far|long|much|many|\w+ly) as
    next (?:to|door|day|morning|week|room)
    first (?:aid|floor|class|gear|person|time|responders?)
    following (?:an? |the )?(?:\w+ )?(?:path|trail|road|rhythm|beat|melody|pattern|tune|lead|rule|script)s?
    (?:see|hear) you later|sooner or later
    between (?:\w+ ){{1,4}}?and
    not until
    in order to
    """
)

# What a stretch of words may open or close with that is no part of its event ...
HEAD = _any(
    r"""
    and|but|so|if|also|plus|with|then|that(?! of)|which|whereas|where|in which|is|are|was|were|being
    again(?= (?:an?|the|some)\b)|(?:do|does|did)(?= (?:an?|the) )|it is|it['’]s
    here comes|(?:comes?|came)(?! (?:to|in|out|up|down|back|from|by|on|off)\b)
    there(?:['’]s| (?:is|are|was|were|comes?|came))(?: also| then)?
    (?:you|we|i|one|the listener)(?: can| could| will)?(?: then| also)? hears?
    """
)
# ... and what its phrase can do without.
_SEVERAL = r"(?:an?|the|one|two|three|four|five|six|several|some|many|few|\d+)"
_SORT = r"(?:brief|short|single|separate|distinct|loud|continuous|constant|prolonged|\w+ly)"
_BOUT = (
    r"(?:series|sequence|succession|period|instance|moment|occurrence|round|bout|occasion|event|sound|noise|"
    r"audio(?: clip| recording| sample| track)?)s?"
)
_LEADS = _any(
    rf"""
    an?|the|some|just|only|that of|those of|intermittent|single|(?:what )?sounds? like
    (?:{_SEVERAL} )?(?:{_SORT} )*{_BOUT} of
    (?:\d[\d.]*|\w+) (?:seconds?|minutes?) of
    """
)
PHRASE_HEAD = rf"(?:{_LEADS}) (?=\S)"
_SECONDS = r"(?:s|secs?|seconds?|minutes?)"
_BE = r"(?:is|are|was|were|be|being|can be|could be|can|may be|also)"
_TIMES = (
    r"(?:once|twice|thrice|(?:\w+|\d+) (?:separate |more |distinct )?times|once more|in a row|"
    r"in (?:quick |rapid |close )?succession)"
)
_TRAILS = _any(
    rf"""
    (?:{_BE} )+(?:then |now |also )?(?:heard|audible|present|played)\b.{{0,40}}?
    (?:occur|happen)(?:s|red|ed|ring|ing)?\b.{{0,40}}?|(?:comes?|came|takes? place|ensues?)\b.{{0,40}}?
    {_TIMES}(?: {_TIMES})*
    (?:lasting )?for (?:(?:about|around|exactly|over|approximately) )?(?:[\d.]+|a few|\w+) ?{_SECONDS}
    audios?|(?:audio|sound) (?:clip|sample|track|recording)s?
    simultaneously|concurrently|together|at the same time|in parallel|initially|afterwards|meanwhile
    with (?:an?|one|some) (?:\w+ )?(?:pause|break|gap|silence)\b.*
    for [^,.;]{{0,20}}?\ban? (?:second|moment)|(?<!half )(?<!under )(?<!over )(?<!than )an? (?:second|moment)
    (?:is|are|was|were|does|did)n['’]t|not
    is|are|was|were|being|to be|(?<!and )to|and|but|only|or|with|an?|the|which|what|that|each
    """
)
PHRASE_TAIL = rf"(?: (?:{_TRAILS})|[\s,;:.\"'“”‘’()\[\]{{}}!?-]+)$"

# Where these tie or open, the events cannot simply change places.
FIXED = (
    r"^(?:while|as|with|when)\b|\b(?:interrupted|broken|cut|replaced|lead|leads|leading|gives?|giving|trigger\w*|"
    r"transition\w*|until|till|once|as soon as|before and (?:again )?after|and (?:is|are|was|were|gets?) )\b"
)
