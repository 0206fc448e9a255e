/** An agent that is written with the OpenAI Agents SDK and trained by working. */
import { Agent, OpenAIProvider, Runner } from '@openai/agents';
import { holdSums } from './sums.js';

await holdSums(async ({ baseURL, apiKey }, question) => {
  const modelProvider = new OpenAIProvider({ baseURL, apiKey, useResponses: false });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({ name: 'calculator', model: 'words' });
  const { finalOutput } = await runner.run(agent, question);
  return finalOutput;
});
