"""The questions and documents of examples/agent, for the two environments beside this file."""
import json
from pathlib import Path

AGENT = Path(__file__).parent.parent / "agent"
DOCUMENTS = (AGENT / "documents.txt").read_text().split("\n")
QUESTIONS = [json.loads(line) for line in (AGENT / "search.jsonl").read_text().splitlines()]
# One search more than the longest questions need.
MOST_SEARCHES = 4


def found(query: str) -> str:
    """The document that has the most words of the query, and has them first."""

    def score(text: str) -> int:
        places = [text.find(f" {word}") for word in query.split(" ")]
        return sum(100 - at for at in places if at >= 0)

    return max(DOCUMENTS, key=score)
