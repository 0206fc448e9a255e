/**
 * Power sampling: a Markov chain over whole answers whose stationary distribution is the policy's own, p, raised to a power α and normalised (Karan and Du,
 * "Reasoning with Sampling: Your Base Model is Smarter Than You Think", arXiv:2510.14901). It needs no training and no scorer. Unlike a low temperature,
 * which sharpens each token for itself, p^α prefers answers that are likely as a whole.
 *
 * A step goes back to a place of the answer that is drawn uniformly and writes on from there at temperature 1/α (Metropolis-Hastings). With x and y the
 * answers before and after, s their parts after that place and |·| lengths, it is accepted with probability min(1, (p(s_y)/p(s_x))^α · q(s_x)/q(s_y) · |x|/|y|).
 */
import type { Completion, GeneratePrompt, TokenIds } from '../../core/policy/policy.ts';
import { uniforms } from '../../core/random.ts';
import { sameExp, sameLog } from '../../core/same-exp.ts';

/** An answer after its first `at` tokens is written anew. */
export interface Continuation {
  readonly chain: number;
  /** Keys the draw. */
  readonly id: string;
  readonly kept: TokenIds;
  readonly maxNew: number;
}

/** The new tokens of a continuation, with their log-probabilities (nats) by the policy at temperature 1 and under the distribution that they were drawn from. */
export interface Continued {
  readonly ids: TokenIds;
  readonly own: readonly number[];
  readonly proposed: readonly number[];
}

/** A proposal of a chain: what was kept, what was written on, and whether the chain went there. The first one is. */
export interface Proposal<D extends Continued = Continued> extends Continuation {
  readonly drawn: D;
  readonly accepted: boolean;
}

export interface Chain<D extends Continued = Continued> {
  /** In the order of the steps; the first is the answer that the chain began with. */
  readonly proposals: readonly Proposal<D>[];
  /** The answer that it ends with: that of the last proposal that was accepted. */
  readonly ids: TokenIds;
  /** Log-probabilities (nats) of its tokens by the policy at temperature 1. */
  readonly own: readonly number[];
  /** All tokens that were drawn. */
  readonly tokens: number;
}

interface Chains<D extends Continued> {
  readonly count: number;
  readonly alpha: number;
  /** Longest answer in tokens. */
  readonly maxNew: number;
  /** The id of a chain's draw at a step, from 0, and the id of the two uniforms of a step: the place, and whether it is accepted. */
  readonly drawId: (chain: number, step: number) => string;
  readonly stepId: (chain: number, step: number) => string;
  /** Writes on at temperature 1/α, in the order given. */
  readonly propose: (asked: readonly Continuation[]) => Promise<readonly D[]>;
  /** Whether there is a step of this number, from 1. All chains end together: one that ended by its own tokens would end at long answers more often than they are drawn. */
  readonly goesOn: (step: number, chains: readonly Pick<Chain, 'tokens'>[]) => boolean;
}

interface State<D extends Continued> extends Continued {
  readonly proposals: Proposal<D>[];
  readonly tokens: number;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

export async function powerChains<D extends Continued>({
  count,
  alpha,
  maxNew,
  drawId,
  stepId,
  propose,
  goesOn,
}: Chains<D>): Promise<Chain<D>[]> {
  const all = Array.from({ length: count }, (_, chain) => chain);
  const first = all.map((chain) => ({ chain, id: drawId(chain, 0), kept: [], maxNew }));
  let states: State<D>[] = (await propose(first)).map((drawn, chain) => ({
    ...drawn,
    proposals: [{ ...first[chain]!, drawn, accepted: true }],
    tokens: drawn.ids.length,
  }));
  for (let step = 1; goesOn(step, states); step++) {
    const draws = all.map((chain) => uniforms(stepId(chain, step), 2));
    const asked = states.map(({ ids }, chain) => {
      const at = Math.floor(draws[chain]![0]! * ids.length);
      return { chain, id: drawId(chain, step), kept: ids.slice(0, at), maxNew: maxNew - at };
    });
    const drawn = await propose(asked);
    states = states.map((x, chain) => {
      const [y, { kept }] = [drawn[chain]!, asked[chain]!];
      const accepted = draws[chain]![1]! < sameExp(logRatio(x, y, kept.length, alpha));
      const proposals = [...x.proposals, { ...asked[chain]!, drawn: y, accepted }];
      const tokens = x.tokens + y.ids.length;
      if (!accepted) return { ...x, proposals, tokens };
      return {
        ids: [...kept, ...y.ids],
        own: [...x.own.slice(0, kept.length), ...y.own],
        proposed: [...x.proposed.slice(0, kept.length), ...y.proposed],
        proposals,
        tokens,
      };
    });
  }
  return states.map(({ ids, own, proposals, tokens }) => ({ ids, own, proposals, tokens }));
}

/** The logarithm of the acceptance ratio of answer x, written anew after its first `at` tokens as y. */
export const logRatio = (x: Continued, y: Continued, at: number, alpha: number): number =>
  alpha * (sum(y.own) - sum(x.own.slice(at))) +
  sum(x.proposed.slice(at)) -
  sum(y.proposed) +
  sameLog(x.ids.length / (at + y.ids.length));

/** Writes on from what is kept after the prompt of each chain, by one call for each bound on new tokens; in the order given. */
export async function writeOn(
  asked: readonly Continuation[],
  prompts: readonly TokenIds[],
  generate: (prompts: readonly GeneratePrompt[], maxNew: number) => Promise<readonly Completion[][]>,
): Promise<Completion[]> {
  const made = new Map<Continuation, Completion>();
  for (const bound of new Set(asked.map(({ maxNew }) => maxNew))) {
    const some = asked.filter(({ maxNew }) => maxNew === bound);
    const completions = await generate(
      some.map(({ chain, kept, id }) => ({ ids: [...prompts[chain]!, ...kept], sampleIds: [id] })),
      bound,
    );
    for (const [i, one] of some.entries()) made.set(one, completions[i]![0]!);
  }
  return asked.map((one) => made.get(one)!);
}
