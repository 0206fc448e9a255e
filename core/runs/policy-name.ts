/**
 * Makes the name of the policy that a run trains, from every setting in which the run differs from others. Two runs with different
 * settings therefore never train the same policy, unless somebody names it in the order.
 */
import { deriveId } from '../random.ts';

/** The most characters that a policy's name may have: it is part of keys and URLs. */
const LONGEST = 64;

/** What a name needs of a recipe: its defaults, which a name leaves out, and its rewards. */
export interface NamingDefaults {
  readonly tasks: number;
  readonly groupSize: number;
  readonly rewards: Readonly<Record<string, unknown>>;
}

export function policyNameOf(
  run: {
    readonly recipe: string;
    readonly seed: number;
    /** The reward that was chosen; absent where none was, and then the name leaves it out. */
    readonly rewardFunction?: string | undefined;
    readonly freeze: readonly string[];
    readonly variant?: string | undefined;
    readonly weights?: string | undefined;
    readonly engine?: string | undefined;
    readonly ahead?: number | undefined;
    readonly tasks?: number | undefined;
    readonly groupSize?: number | undefined;
  },
  defaults: NamingDefaults,
): string {
  const {
    rewardFunction,
    variant,
    weights,
    engine,
    ahead = 0,
    tasks = defaults.tasks,
    groupSize = defaults.groupSize,
  } = run;
  const frozen = [...run.freeze].sort().map((role) => `frozen-${role}`);
  // A variant that has the name of a reward is marked as a variant.
  const variantPart = variant && variant in defaults.rewards ? `variant-${variant}` : variant;
  const name = [
    run.recipe,
    ...(rewardFunction ? [rewardFunction] : []),
    ...(variantPart ? [variantPart] : []),
    ...(weights ? [weights] : []),
    ...(engine ? [engine] : []),
    ...(ahead === 0 ? [] : [`ahead${ahead}`]),
    ...frozen,
    ...(tasks === defaults.tasks ? [] : [`tasks${tasks}`]),
    ...(groupSize === defaults.groupSize ? [] : [`group${groupSize}`]),
    run.seed,
  ].join('-');
  if (name.length <= LONGEST) return name;
  const digest = deriveId('policy-name', name).slice(0, 12);
  return `${name.slice(0, LONGEST - digest.length - 1)}-${digest}`;
}
