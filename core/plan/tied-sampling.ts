/**
 * A policy gradient is taken at the distribution that its tokens were sampled from. Its parts are tied to how their role samples: the
 * temperature is the role's, and ways of sampling that the learner does not reproduce are refused.
 */
import { wrongInput } from '../errors.ts';
import type { RoleSettings } from '../recipe/role.ts';
import type { PolicyPart, Update, UpdatePart } from './training-plan.ts';

/** Ways of sampling that leave tokens out: the learner's log-probabilities are of all tokens, so that its ratios would not be those of the samples. */
const truncates = ({ topP = 1, topK = 0, grammar }: RoleSettings['sampling']): string | undefined => {
  if (topP < 1) return `topP ${topP}`;
  if (topK > 0) return `topK ${topK}`;
  return grammar ? 'a grammar' : undefined;
};

function tied(part: PolicyPart, recipe: string, sampling: RoleSettings['sampling']): PolicyPart {
  const { role, temperature } = part;
  const left = truncates(sampling);
  if (left)
    throw wrongInput(
      'recipe.sampling',
      `Recipe ${recipe} trains its role ${role} by policy gradient and samples it with ${left}.`,
      {
        expected:
          'a role that is sampled from all tokens: the learner computes log-probabilities over all of them',
        next: `Take it out of the sampling of ${role}, or train the role by preference pairs or supervised fine-tuning.`,
      },
    );
  if (temperature !== undefined && temperature !== sampling.temperature)
    throw wrongInput(
      'recipe.sampling',
      `Recipe ${recipe} trains its role ${role} at temperature ${temperature}.`,
      {
        expected: `the temperature that the role samples at, ${sampling.temperature}`,
        next: 'Leave the temperature of the part out: it is taken from the role.',
      },
    );
  return sampling.temperature === 1 ? part : { ...part, temperature: sampling.temperature };
}

interface Sampling {
  readonly name: string;
  readonly roles?: Readonly<Record<string, RoleSettings>>;
}

/** A part, at its role's temperature if it is a policy part. Throws `recipe.sampling` where the role's sampling cannot be reproduced. */
export function tiedPart<P extends UpdatePart>(part: P, { name, roles = {} }: Sampling): P | PolicyPart {
  const sampling = roles[part.role]?.sampling;
  return part.kind === 'policy' && sampling ? tied(part, name, sampling) : part;
}

/** The updates with every policy part at its role's temperature. */
export const tiedToSampling = <U extends Pick<Update, 'parts'>>(
  updates: readonly U[],
  recipe: Sampling,
): U[] => updates.map((update) => ({ ...update, parts: update.parts.map((part) => tiedPart(part, recipe)) }));
