/**
 * Rewards by a reward model: a version with a class head that reads the question and the answer as the policy wrote them, token by token. What it pays is
 * the probability of its class 1, right or preferred, after the last token. It writes nothing; its measurements are recorded, and audits make them again.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { Score } from '../../core/net/reward-service.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { softmax } from '../../core/same-exp.ts';
import type { Measurement } from '../../core/schema/measurement.ts';
import type { RolloutGroup } from '../../core/schema/sample.ts';

export interface RewardModel {
  /** The name of the reward. */
  readonly name: string;
  /** The exact version that measures. */
  readonly policy: { readonly name: string; readonly version: number };
}

/** The role that a reward model plays in a round. */
export const modelRole = (reward: string): string => `model-${reward}`;

/** The class that is paid for. */
const PAID = 1;

/** The probability of class 1 at each of the places that were asked for. Throws `head.missing` where the version has no class head. */
export function paidProbabilities(
  { classes }: Measurement,
  { name, version }: RewardModel['policy'],
): number[] {
  if (classes) return classes.map((row) => softmax(row)[PAID]!);
  throw new RollmeshError(
    'wrong-input',
    'head.missing',
    `${name}@${version} has no class head, so that it is no reward model.`,
    {
      expected: 'a version that recipe reward-model trained, or an imported sequence classifier',
      next: 'Run `npx rollmesh policy list` for versions.',
    },
  );
}

/** What each model pays, [groups] by the name of the reward: [samples]. One model after the other, since an isolate has room for one policy. */
export async function scoreByModels(
  context: Pick<RoundContext, 'measure' | 'textOf'>,
  models: readonly RewardModel[],
  groups: readonly Pick<RolloutGroup, 'group' | 'samples'>[],
): Promise<Readonly<Record<string, readonly Score[]>>[]> {
  const scores = groups.map((): Record<string, Score[]> => ({}));
  for (const { name, policy } of models) {
    const role = modelRole(name);
    const { contextLength } = await context.textOf(role);
    const fits = groups.map(({ samples }) =>
      samples.map(({ prompt, ids }) => prompt.length + ids.length <= contextLength),
    );
    const measured = await context.measure(
      role,
      groups.flatMap(({ group, samples }, g) =>
        samples.flatMap(({ prompt, ids }, s) => (fits[g]![s] ? [{ group, prompt, ids }] : [])),
      ),
    );
    let at = 0;
    for (const [g, own] of fits.entries())
      scores[g]![name] = own.map((fit) => (fit ? paidProbabilities(measured[at++]!, policy)[0]! : 'no-room'));
  }
  return scores;
}
