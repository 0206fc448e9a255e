"""
The same as an environment of OpenEnv, whose tools speak the Model Context Protocol, on the official server (huggingface/OpenEnv):
PORT=8000 python search_openenv.py
"""
import os
from uuid import uuid4

import uvicorn
from fastmcp import FastMCP
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Observation, State
from searching import MOST_SEARCHES, QUESTIONS, found


class Asked(Observation):
    question: str = ""


class Documents(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        mcp = FastMCP("documents")

        @mcp.tool
        def search(query: str) -> str:
            """Finds the document that has the most words of the query."""
            return found(query)

        @mcp.tool
        def answer(name: str) -> str:
            """Answers the question, and ends the episode."""
            return "Right." if name == self.task["answer"] else "Wrong."

        super().__init__(mcp)
        self.reset(0)

    def reset(self, seed=None, episode_id=None, **more):
        self.task = QUESTIONS[(seed or 0) % len(QUESTIONS)]
        self.searches = 0
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return Asked(question=self.task["question"], done=False, reward=None)

    def _paid(self, action, observed):
        self._state.step_count += 1
        if isinstance(action, CallToolAction) and action.tool_name == "answer":
            observed.done = True
            observed.reward = float((action.arguments or {}).get("name") == self.task["answer"])
        elif isinstance(action, CallToolAction) and action.tool_name == "search":
            self.searches += 1
            observed.done = self.searches >= MOST_SEARCHES
            observed.reward = 0.0 if observed.done else None
        return observed

    def step(self, action, **more):
        return self._paid(action, super().step(action, **more))

    async def step_async(self, action, **more):
        return self._paid(action, await super().step_async(action, **more))

    def _step_impl(self, action, **more):
        return Observation(done=False, reward=None)

    @property
    def state(self):
        return self._state


app = create_app(Documents, CallToolAction, CallToolObservation, env_name="documents", max_concurrent_envs=16)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
