"""Captions: which events a caption names, and which of them it says begin before others.

Conventions
-----------
Rules and tables, no model: the same caption always gives the same answer. An order is reported only
where words or times state it. "A then B", "A followed by B", "B after A", "A before B", "first A,
finally B", "three sounds in succession: A, B, C" state one; "and", commas, full stops, "while", "as"
and "with" do not: they join events into one group, inside which nothing is ordered.

- The sequence is a list of groups; every member of a group begins before every member of the next.
- A join binds closer than an order: "A and B then C" is {A, B} < C, "A then B while C" is A < {B, C}.
- "A, B, then C" is {A, B} < C: commas order nothing, unless the caption says its list is in order.
- "A after B" and "A preceded by B" put B first. "A proceeded by B" puts A first: strictly it is no
  English for either order, but caption writers use it as they use "followed by".
- "A until B", "A interrupted by B" and "A gives way to B" put A first: it begins first.
- An event told twice ("it meows again", "followed by another groan") is one event, where it was first
  told. "Another man" is a different man. A pause between two events is no event; silence that begins
  or ends the sequence is one.
- What sounds all along ("throughout", "all while it rains", "amid traffic", "over music") begins at no
  stated place: it is a phrase, but in no group and no precedence. So is what sounds "in the background"
  of an event; alone in its place ("a dog barks, then music plays in the background") it has that place.
- A negated event ("no dog barks") is no phrase; a caption that negates an order ("not followed by") states
  none at all.
- "A dog runs after a cat", "a man speaks before a crowd": no words of time.
- If every event has a stated time, the onsets decide; equal onsets state no order.
"""

from earwitness.captions.order import Parsed, Phrase, parse
from earwitness.captions.reversal import reverse

__all__ = ["Parsed", "Phrase", "parse", "reverse"]
