"""What listeners are asked: one file a question."""

from earwitness.questions.alignment import ALIGNMENT, ALIGNMENT_AFTER_LISTENING
from earwitness.questions.base import Question
from earwitness.questions.edit import EDIT, EDIT_EXCHANGED
from earwitness.questions.edit_measures import EDIT_MEASURES
from earwitness.questions.events import EVENTS
from earwitness.questions.label import LABEL
from earwitness.questions.levels import LEVELS
from earwitness.questions.listen import LISTEN
from earwitness.questions.quality import QUALITY

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        EVENTS,
        LISTEN,
        ALIGNMENT,
        ALIGNMENT_AFTER_LISTENING,
        EDIT,
        EDIT_EXCHANGED,
        EDIT_MEASURES,
        LABEL,
        QUALITY,
        LEVELS,
    )
}
