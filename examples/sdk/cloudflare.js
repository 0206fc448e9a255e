/** An agent that is written with Cloudflare's agents package and trained by working: a Durable Object, which `wrangler dev` or Cloudflare runs. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent, routeAgentRequest } from 'agents';
import { generateText } from 'ai';
import { holdSums } from './sums.js';

export class Calculator extends Agent {
  initialState = { answered: 0 };

  /** Holds the episodes of the run that its variables name, and answers when the run is over. */
  async onRequest() {
    await holdSums(async ({ baseURL, apiKey }, question) => {
      const rollmesh = createOpenAICompatible({ name: 'rollmesh', baseURL, apiKey });
      const { text } = await generateText({ model: rollmesh('words'), prompt: question });
      this.setState({ answered: this.state.answered + 1 });
      return text;
    });
    return Response.json(this.state);
  }
}

export default {
  fetch: async (request, env) =>
    (await routeAgentRequest(request, env)) ??
    new Response('POST /agents/calculator/NAME\n', { status: 404 }),
};
