"""What listeners are asked: one file a question."""

from earwitness.questions.alignment import ALIGNMENT
from earwitness.questions.base import Question
from earwitness.questions.events import EVENTS

QUESTIONS: dict[str, Question] = {question.name: question for question in (EVENTS, ALIGNMENT)}
