/** Tree search: which branch is gone down, what comes back up, how many branches a node may have, and what its nodes teach. */
import { sameLog } from '../same-exp.ts';

/** What is known of a branch when one is selected. */
export interface Branch {
  /** Mean value of what was found below it. */
  readonly value: number;
  /** How often it was visited, at least once. */
  readonly visits: number;
  /** The share of its parent's draws that came to it, as an estimate of the policy's probability of the step. */
  readonly prior: number;
}

/** The score of a branch whose parent was visited so often; the highest is gone down. */
export type Selection = (branch: Branch, parentVisits: number) => number;

/** UCB1 (Auer et al., 2002): Q + c·√(ln N / n). */
export const ucb =
  (c: number): Selection =>
  ({ value, visits }, parentVisits) =>
    value + c * Math.sqrt(sameLog(parentVisits) / visits);

/** PUCT, as AlphaZero has it: Q + c·P·√N / (1 + n). */
export const puct =
  (c: number): Selection =>
  ({ value, visits, prior }, parentVisits) =>
    value + (c * prior * Math.sqrt(parentVisits)) / (1 + visits);

/**
 * The value of a node by its own estimate, which counts once, and its branches, each counted as often as it was visited: their mean. `own`: null = nobody
 * estimates it; then there is at least one branch.
 */
export function backUp(own: number | null, branches: readonly Pick<Branch, 'value' | 'visits'>[]): number {
  const visits = branches.reduce((sum, branch) => sum + branch.visits, own === null ? 0 : 1);
  return branches.reduce((sum, branch) => sum + branch.visits * branch.value, own ?? 0) / visits;
}

/** A step as it was drawn: how often, and what it was found to be worth then. */
export interface Drawn {
  readonly drawn: number;
  readonly value: number;
}

/**
 * What one more draw below a node promises, as a branch beside those that are there: the mean of its own worth and of the steps that were drawn. The
 * probability that it brings a step which is not there is estimated by the share of draws whose step came once (Good and Turing), as its prior.
 */
export function nextDraw(own: number, steps: readonly Drawn[]): Branch {
  const draws = steps.reduce((sum, { drawn }) => sum + drawn, 0);
  return {
    value: steps.reduce((sum, { drawn, value }) => sum + drawn * value, own) / (1 + draws),
    visits: draws,
    prior: steps.filter(({ drawn }) => drawn === 1).length / draws,
  };
}

/** How many draws a node may have. */
export interface Branching {
  readonly least: number;
  readonly most: number;
  /** Draws for each unit of importance; absent = every node has the least. */
  readonly scale?: number;
}

/**
 * Adaptive branching: a node whose steps differ much in value is worth more of them. Its importance I is the largest distance of a branch's value from
 * its own, and it may have ⌊scale·I⌋ + 1 draws, within `least` and `most`.
 */
export function drawsFor(
  { least, most, scale }: Branching,
  value: number,
  branches: readonly { readonly value: number }[],
): number {
  if (scale === undefined) return least;
  const importance = Math.max(0, ...branches.map((branch) => Math.abs(branch.value - value)));
  return Math.max(least, Math.min(most, Math.floor(scale * importance) + 1));
}

/** A node of a finished tree. */
export interface TreeNode {
  /** The place of its parent in the list, which comes before it; null for the first steps. */
  readonly parent: number | null;
  /** It ends an answer that is right. */
  readonly right: boolean;
}

/**
 * What ReST-MCTS* (arXiv:2406.03816) infers that each step is worth, 0 to 1 [nodes]; null everywhere where no answer of the tree is right. With v = 0 of
 * the question, v_k = max(0, v_{k−1} + (1 − v_{k−1})·r/m): r is 1 for a step on the way to a right answer and −1 for any other, and m is how many steps the
 * nearest right answer takes from this one, itself included; a step that leads to none has the m of its last ancestor that does.
 */
export function processValues(nodes: readonly TreeNode[]): (number | null)[] {
  // From the last node to the first, children are known before their parents.
  const steps = nodes.map(({ right }) => (right ? 1 : Number.POSITIVE_INFINITY));
  let ofQuestion = Number.POSITIVE_INFINITY;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { parent } = nodes[i]!;
    if (parent === null) ofQuestion = Math.min(ofQuestion, steps[i]! + 1);
    else steps[parent] = Math.min(steps[parent]!, steps[i]! + 1);
  }
  if (!Number.isFinite(ofQuestion)) return nodes.map(() => null);
  const values: number[] = [];
  const far: number[] = [];
  for (const [i, { parent }] of nodes.entries()) {
    const leads = Number.isFinite(steps[i]!);
    const before = parent === null ? 0 : values[parent]!;
    far.push(leads ? steps[i]! : parent === null ? ofQuestion : far[parent]!);
    values.push(Math.max(0, before + ((1 - before) * (leads ? 1 : -1)) / far[i]!));
  }
  return values;
}

/**
 * Which two of some sibling steps are compared, by their values: the best one and the worst, the first of equal ones; null where they are no more than
 * `least` apart.
 */
export function siblingPair(
  values: readonly number[],
  least: number,
): { readonly better: number; readonly worse: number; readonly apart: number } | null {
  const [high, low] = [Math.max(...values), Math.min(...values)];
  if (!(high - low > least)) return null;
  return { better: values.indexOf(high), worse: values.indexOf(low), apart: high - low };
}
