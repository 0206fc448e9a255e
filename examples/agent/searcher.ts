/** An agent with a tool: the policy answers questions that take up to three searches in a file of documents. The right name is paid. */
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { holdEpisodes } from './hold.ts';

const documents = readFileSync(new URL('documents.txt', import.meta.url), 'utf8').split('\n');

/** The document that has the most words of the query, and has them first. */
function search({ query }: { readonly query: string }): string {
  const places = (text: string) => query.split(' ').map((word) => text.indexOf(` ${word}`));
  const score = (text: string) => places(text).reduce((sum, at) => sum + (at < 0 ? 0 : 100 - at), 0);
  return documents.reduce((best, text) => (score(text) > score(best) ? text : best));
}

const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const tools = [{ type: 'function' as const, function: { name: 'search', parameters } }];

await holdEpisodes(async ({ baseURL, apiKey, task: { messages, answer } }) => {
  const openai = new OpenAI({ baseURL, apiKey });
  for (let turn = 0; turn < 4; turn++) {
    const { choices } = await openai.chat.completions.create({ model: 'search', messages, tools });
    const { message } = choices[0]!;
    const [call] = message.tool_calls ?? [];
    if (call?.type !== 'function') return { reward: Number(message.content === `<answer>${answer}`) };
    const content = search(JSON.parse(call.function.arguments));
    messages.push(message, { role: 'tool', tool_call_id: call.id, content });
  }
  return { reward: 0 };
});
