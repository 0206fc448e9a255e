/** Power sampling within a budget of tokens, as one of the ways to answer questions. */
import type { Completion } from '../../core/policy/policy.ts';
import { powerChains, writeOn } from './power-chain.ts';
import { type Found, type Sampling, sampleId } from './sampling.ts';

/** The most steps of a chain: those of very short answers would otherwise be thousands. */
const MOST_STEPS = 512;

/** The last states of chains, [questions], which end when the budget is spent on average. What they score is not counted. With what a completion has. */
export async function powerSample(search: Sampling, alpha: number): Promise<(Found & Completion)[]> {
  const { policy, prompts, ends, maxNew, budget, seed } = search;
  const name = `power ${alpha}`;
  const chains = await powerChains({
    count: prompts.length,
    alpha,
    maxNew,
    drawId: (q, step) => sampleId(name, seed, q, step),
    stepId: (q, step) => sampleId(`${name} step`, seed, q, step),
    propose: async (asked) => {
      const made = await writeOn(asked, prompts, (some, bound) =>
        policy.generate(some, { ...ends, maxNew: bound, temperature: 1 / alpha }),
      );
      const scores = await policy.score(
        asked.map(({ chain, kept }, i) => [...prompts[chain]!, ...kept, ...made[i]!.ids]),
      );
      return made.map(({ ids, logprobs, stopped }, i) => {
        const own = scores[i]!.logprobs;
        return { ids, own: own.slice(own.length - ids.length), proposed: logprobs, stopped };
      });
    },
    goesOn: (step, chains) =>
      step <= MOST_STEPS && chains.reduce((all, { tokens }) => all + tokens, 0) < budget * chains.length,
  });
  return chains.map(({ ids, own, tokens, proposals }) => {
    const { stopped } = proposals.findLast(({ accepted }) => accepted)!.drawn;
    return { ids: [...ids], logprobs: [...own], stopped, tokens };
  });
}
