/**
 * Two seats that learn from each other: a proposer writes a sum, and a solver answers it twice. The solver is paid for what it gets right, the
 * proposer for sums that the solver gets right once in two. A calculator knows the results; nobody wrote the questions.
 */
import OpenAI from 'openai';
import { type Access, holdEpisodes, type Message } from './hold.ts';

async function says({ baseURL, apiKey }: Access, content: string): Promise<string> {
  const messages: Message[] = [{ role: 'user', content }];
  const { choices } = await new OpenAI({ baseURL, apiKey }).chat.completions.create({
    model: 'words',
    messages,
  });
  return choices[0]!.message.content ?? '';
}

/**
 * The result of the sum that a question ends with, such as 3 + 4 - 9 =; null where it has none. Nor has one with angle brackets: the mesh
 * refuses prompts that hold a token which separates messages, and a proposer may write one.
 */
function resultOf(question: string): number | null {
  const [, sum] = /^[^<>]*?(\d+(?: [+-] \d+)+) =$/.exec(question.trim()) ?? [];
  return sum === undefined
    ? null
    : sum.split(/ (?=[+-])/).reduce((total, part) => total + Number(part.replace(' ', '')), 0);
}

await holdEpisodes(async ({ task, seats: { proposer, solver } }) => {
  const example = task.messages.at(-1)!.content;
  const question = await says(
    proposer!,
    `Write a new question of the same kind. Write the question alone.\n\nExample:\n${example}`,
  );
  const result = resultOf(question);
  if (result === null) return { rewards: { proposer: 0 } };
  const answers = [await says(solver!, question), await says(solver!, question)];
  const right = answers.filter((answer) => Number(answer.match(/-?\d+(?!.*\d)/s)?.[0]) === result).length / 2;
  return { rewards: { proposer: right === 0.5 ? 1 : 0, solver: right } };
});
