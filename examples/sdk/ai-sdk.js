/** An agent that is written with the AI SDK and trained by working. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
import { holdSums } from './sums.js';

await holdSums(async ({ baseURL, apiKey }, question) => {
  const rollmesh = createOpenAICompatible({ name: 'rollmesh', baseURL, apiKey });
  const { text } = await generateText({ model: rollmesh('words'), prompt: question });
  return text;
});
