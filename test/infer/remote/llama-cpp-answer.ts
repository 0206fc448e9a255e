/** What llama.cpp's llama-server would answer over a policy here. */
import type { Policy } from '../../../core/policy/policy.ts';
import { logprobsAfter } from './local-server.ts';

interface Asked {
  readonly prompt: number[];
  readonly max_tokens: number;
  readonly temperature: number;
  readonly logprobs: number;
  readonly post_sampling_probs?: boolean;
  readonly seed?: number;
  readonly min_p?: number;
  readonly top_k?: number;
}

/** The end of the served model: the one token at which this server stops by itself. */
export const END = 9;

/** The first choice of an answer. */
export async function answerAsLlamaCpp(asked: Asked, local: Pick<Policy, 'generate'>): Promise<object> {
  const { prompt, max_tokens: maxNew, temperature } = asked;
  const sampleIds = [`seed/${asked.seed}`];
  const [samples] = await local.generate([{ ids: prompt, sampleIds }], { maxNew, temperature, stop: [END] });
  const { ids, logprobs, stopped } = samples![0]!;
  const tops =
    asked.logprobs > 1
      ? logprobsAfter(prompt)
          .at(-1)!
          .map((logprob, id) => ({ id, logprob }))
      : [];
  return {
    finish_reason: stopped ? 'stop' : 'length',
    logprobs: {
      content: ids.map((id, i) => {
        const [logprob, top_logprobs] = [logprobs[i]!, tops.slice(0, asked.logprobs)];
        return asked.post_sampling_probs ? { id, prob: Math.exp(logprob) } : { id, logprob, top_logprobs };
      }),
    },
  };
}
