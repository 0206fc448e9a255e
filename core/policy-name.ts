/** The name of a run's own policy, after what makes the run different from others: two runs never train one policy by accident. */
import { deriveId } from './random.ts';

/** A policy's name is part of keys and URLs, and has no more characters than this. */
const LONGEST = 64;

export function policyNameOf(run: {
  readonly recipe: string;
  readonly seed: number;
  /** Where it was chosen; the recipe's default is not part of the name. */
  readonly reward?: string | undefined;
  readonly freeze: readonly string[];
  readonly variant?: string | undefined;
  readonly weights?: string | undefined;
}): string {
  const frozen = [...run.freeze].sort().map((role) => `frozen-${role}`);
  const name = [
    run.recipe,
    ...(run.reward ? [run.reward] : []),
    ...(run.variant ? [run.variant] : []),
    ...(run.weights ? [run.weights] : []),
    ...frozen,
    run.seed,
  ].join('-');
  if (name.length <= LONGEST) return name;
  const digest = deriveId('policy-name', name).slice(0, 12);
  return `${name.slice(0, LONGEST - digest.length - 1)}-${digest}`;
}
