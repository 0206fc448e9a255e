/** What the agents of this folder have in common: they do the sums of examples/agent/sums.jsonl, and are paid for the right result. */
import { holdEpisodes } from '../agent/hold.ts';

/** 1 where the last number of the text is the task's answer. */
const worth = (text, { answer }) => Number(text?.match(/-?\d+(?!.*\d)/s)?.[0] === answer);

/**
 * Holds the episodes of a run. `answer` resolves to the text that the agent comes to.
 *
 * @param {(access: { baseURL: string, apiKey: string }, question: string) => Promise<string | undefined>} answer
 */
export const holdSums = (answer) =>
  holdEpisodes(async ({ baseURL, apiKey, task }) => ({
    reward: worth(await answer({ baseURL, apiKey }, task.messages.at(-1).content), task),
  }));
