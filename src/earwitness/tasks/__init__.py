"""What is judged: one file a task."""

from earwitness.errors import UserError
from earwitness.tasks import edit, label, order, ritta
from earwitness.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (order.TASK, edit.TASK, label.TASK, ritta.TASK)}


def find(name: str) -> Task:
    """The task of that name.

    Raises:
        UserError: If there is none.
    """
    if name not in TASKS:
        raise UserError(f"there is no task {name!r}.", f"Known: {', '.join(TASKS)}.")
    return TASKS[name]
