/**
 * The name of the policy that a run trains, made from every setting that tells the run from others. Two runs with different settings
 * therefore never train one policy unless an order names it.
 */
import { deriveId } from './random.ts';

/** A policy's name is part of keys and URLs, and has no more characters than this. */
const LONGEST = 64;

/** What of a recipe a name needs: its defaults, which a name leaves out, and its rewards. */
export interface NamingDefaults {
  readonly tasks: number;
  readonly group: number;
  readonly rewards: Readonly<Record<string, unknown>>;
}

export function policyNameOf(
  run: {
    readonly recipe: string;
    readonly seed: number;
    /** Where it was chosen; a reward that was not chosen is left out. */
    readonly reward?: string | undefined;
    readonly freeze: readonly string[];
    readonly variant?: string | undefined;
    readonly weights?: string | undefined;
    readonly engine?: string | undefined;
    readonly tasks?: number | undefined;
    readonly group?: number | undefined;
  },
  defaults: NamingDefaults,
): string {
  const { reward, variant, weights, engine, tasks = defaults.tasks, group = defaults.group } = run;
  const frozen = [...run.freeze].sort().map((role) => `frozen-${role}`);
  // A variant that is called like a reward says which of the two it is.
  const variantPart = variant && variant in defaults.rewards ? `variant-${variant}` : variant;
  const name = [
    run.recipe,
    ...(reward ? [reward] : []),
    ...(variantPart ? [variantPart] : []),
    ...(weights ? [weights] : []),
    ...(engine ? [engine] : []),
    ...frozen,
    ...(tasks === defaults.tasks ? [] : [`tasks${tasks}`]),
    ...(group === defaults.group ? [] : [`group${group}`]),
    run.seed,
  ].join('-');
  if (name.length <= LONGEST) return name;
  const digest = deriveId('policy-name', name).slice(0, 12);
  return `${name.slice(0, LONGEST - digest.length - 1)}-${digest}`;
}
