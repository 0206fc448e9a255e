"""
A search tool and an answer, as an environment of the Open Reward Standard, on the official server (openrewardstandard/python-sdk):
PORT=8080 python search_ors.py
"""
import os

from ors import Environment, Server, Split, TextBlock, ToolOutput, tool
from pydantic import BaseModel
from searching import MOST_SEARCHES, QUESTIONS, found


class SearchParams(BaseModel):
    query: str


class AnswerParams(BaseModel):
    name: str


class Documents(Environment):
    def __init__(self, task_spec=None, secrets=None):
        super().__init__(task_spec or {})
        self.task = task_spec or {}
        self.searches = 0

    @classmethod
    def list_splits(cls):
        return [Split(name="train", type="train")]

    @classmethod
    def list_tasks(cls, split: str):
        return QUESTIONS

    def get_prompt(self):
        return [TextBlock(text=self.task["question"])]

    @tool
    def search(self, params: SearchParams) -> ToolOutput:
        """Finds the document that has the most words of the query."""
        self.searches += 1
        finished = self.searches >= MOST_SEARCHES
        blocks = [TextBlock(text=found(params.query))]
        return ToolOutput(blocks=blocks, reward=0.0 if finished else None, finished=finished)

    @tool
    def answer(self, params: AnswerParams) -> ToolOutput:
        """Answers the question, and ends the episode."""
        right = params.name == self.task["answer"]
        return ToolOutput(blocks=[TextBlock(text="Right." if right else "Wrong.")], reward=float(right), finished=True)


if __name__ == "__main__":
    Server([Documents]).run(port=int(os.environ.get("PORT", "8080")))
