/** What a policy is told in messages where it has another part than to answer: to judge a solution, to try again, to ask. */
import type { Message } from './message.ts';

/** The conversation with something added to its last message. */
function extended(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1)!;
  return [...messages.slice(0, -1), { ...last, content: `${last.content.trimEnd()}\n\n${text}` }];
}

/** Asks whether a solution is right. The verdict is `yes` or `no` where the answer stands. */
export const verifierMessages = (question: readonly Message[], solution: string): Message[] =>
  extended(
    question,
    `Proposed solution:\n${solution}\n\nIs this solution right? Check it, then answer yes or no in <answer> tags.`,
  );

/** The question with a right solution beside it: what a teacher reads that is told how a sibling answered. */
export const solvedMessages = (question: readonly Message[], solution: string): Message[] =>
  extended(question, `A right solution:\n${solution}\n\nNow answer the question.`);

/** Asks for another attempt after an answer; `feedback` is what is said about it. */
export const retryMessages = (
  question: readonly Message[],
  attempt: string,
  feedback = 'That may be wrong. Check your steps and answer again.',
): Message[] => [...question, { role: 'assistant', content: attempt }, { role: 'user', content: feedback }];

/** Asks for a new question like the given ones. The reply is the question alone. */
export const proposerMessages = (examples: readonly string[]): Message[] => [
  {
    role: 'user',
    content: `Write a new question of the same kind. Write the question alone.\n\n${examples.map((example) => `Example:\n${example.trim()}`).join('\n\n')}`,
  },
];
