/** An agent that is trained by working: the policy does sums, a calculator is its tool, and the reward says whether the result is right. */
import OpenAI from 'openai';
import { type Access, holdEpisodes, type Task } from './hold.ts';

/** The tool: what is wrong with the first wrong step, such as 3+4=8; null where nothing is. */
function calculator(text: string): string | null {
  for (const [step, a, sign, b, said] of text.matchAll(/(-?\d+)\s*([+-])\s*(\d+)\s*=\s*(-?\d+)/g)) {
    const right = sign === '+' ? Number(a) + Number(b) : Number(a) - Number(b);
    if (right !== Number(said)) return `${step} is wrong.`;
  }
  return null;
}

async function work({ baseURL, apiKey, task }: Access & { readonly task: Task }): Promise<number> {
  const openai = new OpenAI({ baseURL, apiKey });
  const messages = [...task.messages];
  const question = task.messages.at(-1)!.content;
  for (let turn = 1; ; turn++) {
    const { choices } = await openai.chat.completions.create({ model: 'words', messages });
    const { message } = choices[0]!;
    const complaint = turn < 3 ? calculator(message.content ?? '') : null;
    if (complaint === null) return Number(message.content?.match(/-?\d+(?!.*\d)/s)?.[0] === task.answer);
    messages.push(message, { role: 'user', content: `${complaint} ${question}` });
  }
}

await holdEpisodes(async (episode) => ({ reward: await work(episode) }));
