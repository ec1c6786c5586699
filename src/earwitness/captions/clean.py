"""Caption text without markup, and whether it is a caption at all."""

import html
import re

_DROPPED = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_URL = re.compile(r"\b(?:https?://|www\.)\S+")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_FORMULA = re.compile(r"(?<![^\s(\[\"'])[=+@-]+(?=\w)")  # what a spreadsheet would run
_MARKDOWN = re.compile(r"[*`#]+")
_FILE_NAME = re.compile(r"[^\s/-]+(?:-[^\s/-]+){3,}")
_EXTENSION = re.compile(r"\.(?:wav|flac|mp3|ogg|m4a)$", re.IGNORECASE)
_STRAY_SPACE = re.compile(r" (?=[,.;:!?])")
_PLACEHOLDER = re.compile(
    r"(?:n/?a|none|null|nan|nil|unknown|untitled|unlabell?ed|tbd|tba|todo|placeholder|caption|prompt|text|"
    r"(?:no|missing|empty|unknown) (?:caption|prompt|text|description))|"
    r".*\b(?:caption|prompt|description)s? (?:(?:is|was|are) )?(?:not|un|missing) ?"
    r"(?:in|available|given|found|known|provided|set)?\b.*",
    re.IGNORECASE,
)


def clean(caption: str) -> str:
    """The caption's words: tags, entities, scripts, links and formula marks gone, white space folded.

    Captions written as file names ("a_dog_then_a_cat.wav") get their spaces back.
    """
    text = _TAG.sub(" ", _DROPPED.sub(" ", html.unescape(caption)))
    text = _INVISIBLE.sub("", _URL.sub(" ", text))
    text = " ".join(_EXTENSION.sub("", text.strip()).replace("_", " ").split())
    text = _MARKDOWN.sub("", _FORMULA.sub("", text))
    if _FILE_NAME.fullmatch(text):
        text = text.replace("-", " ")
    return _STRAY_SPACE.sub("", " ".join(text.split()))


def no_caption(text: str) -> str:
    """Why a cleaned text is no caption: "" if it is one."""
    if not text:
        return "the caption is empty"
    if _PLACEHOLDER.fullmatch(text.strip(" .()[]{}<>\"'")):
        return "placeholder"
    if not any(char.isalpha() for char in text):
        return "the caption has no words"
    return ""
