/**
 * Power sampling: a Markov chain over whole answers whose stationary distribution is the policy's own, p, raised to a power α and normalised (Karan and Du,
 * "Reasoning with Sampling: Your Base Model is Smarter Than You Think", arXiv:2510.14901). It needs no training and no scorer. Unlike a low temperature,
 * which sharpens each token for itself, p^α prefers answers that are likely as a whole.
 */
import type { TokenIds } from '../../core/policy/policy.ts';
import { uniforms } from '../../core/random.ts';
import { type Found, type Search, sampleId } from './sampling.ts';

interface State {
  readonly ids: TokenIds;
  /** Log-probabilities (nats) of each token by the policy at temperature 1, and under the proposals' distribution. */
  readonly own: readonly number[];
  readonly proposed: readonly number[];
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The most steps of a chain: those of very short answers would otherwise be thousands. */
const MOST_STEPS = 512;

/**
 * Metropolis-Hastings: a step goes back to a place of the answer that is drawn uniformly and writes on from there at temperature 1/α. With x and y the
 * answers before and after, s their parts after that place and |·| lengths, it is accepted with probability min(1, (p(s_y)/p(s_x))^α · q(s_x)/q(s_y) · |x|/|y|).
 * The last state is the answer. All chains end
 * together, when the budget is spent on average: one that ended when its own is spent would end at long answers more often than they are drawn.
 */
export async function powerSample(search: Search, alpha: number): Promise<Found[]> {
  const { prompts, maxNew, budget, seed } = search;
  const name = `power ${alpha}`;
  const states: (State & { tokens: number })[] = (
    await propose(
      search,
      alpha,
      prompts.map((ids, q) => ({ prompt: ids, kept: [], maxNew, id: sampleId(name, seed, q, 0) })),
    )
  ).map((state) => ({ ...state, tokens: state.ids.length }));
  const all = states.map((_, q) => q);
  for (
    let step = 1;
    step <= MOST_STEPS && sum(states.map(({ tokens }) => tokens)) < budget * states.length;
    step++
  ) {
    const draws = all.map((q) => uniforms(sampleId(`${name} step`, seed, q, step), 2));
    const places = all.map((q, i) => Math.floor(draws[i]![0]! * states[q]!.ids.length));
    const made = await propose(
      search,
      alpha,
      all.map((q, i) => ({
        prompt: prompts[q]!,
        kept: states[q]!.ids.slice(0, places[i]!),
        maxNew: maxNew - places[i]!,
        id: sampleId(name, seed, q, step),
      })),
    );
    for (const [i, q] of all.entries()) {
      const x = states[q]!;
      const y = made[i]!;
      const at = places[i]!;
      const tokens = x.tokens + y.ids.length - at;
      const logRatio =
        alpha * (sum(y.own.slice(at)) - sum(x.own.slice(at))) +
        sum(x.proposed.slice(at)) -
        sum(y.proposed) +
        Math.log(x.ids.length / y.ids.length);
      states[q] =
        draws[i]![1]! < Math.exp(logRatio)
          ? { ids: y.ids, own: y.own, proposed: [...x.proposed.slice(0, at), ...y.proposed], tokens }
          : { ...x, tokens };
    }
  }
  return states.map(({ ids, tokens }) => ({ ids, tokens }));
}

/** Goes on with what is kept of answers at temperature 1/α. `proposed` is of the new tokens alone. */
async function propose(
  { policy, ends }: Search,
  alpha: number,
  asked: readonly {
    readonly prompt: TokenIds;
    readonly kept: TokenIds;
    readonly maxNew: number;
    readonly id: string;
  }[],
): Promise<State[]> {
  const rows = await Promise.all(
    // A call has one bound on new tokens.
    [...new Set(asked.map(({ maxNew }) => maxNew))].map(async (maxNew) => {
      const some = asked.filter((one) => one.maxNew === maxNew);
      const made = await policy.generate(
        some.map(({ prompt, kept, id }) => ({ ids: [...prompt, ...kept], sampleIds: [id] })),
        { ...ends, maxNew, temperature: 1 / alpha },
      );
      return some.map((one, i) => [one, made[i]![0]!] as const);
    }),
  );
  const made = new Map(rows.flat());
  const whole = asked.map((one) => [...one.kept, ...made.get(one)!.ids]);
  const scores = await policy.score(asked.map(({ prompt }, i) => [...prompt, ...whole[i]!]));
  return asked.map((one, i) => ({
    ids: whole[i]!,
    own: scores[i]!.logprobs.slice(one.prompt.length - 1),
    proposed: made.get(one)!.logprobs,
  }));
}
