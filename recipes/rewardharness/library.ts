/** A library of rules, the preferences that it is evolved on, and how edits of it are drawn, tried and kept. Models are asked elsewhere. */
import * as v from 'valibot';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { mean } from '../../core/rl/statistics.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { judgedResponse } from '../../worlds/style/demonstrations.ts';
import { parseStyleTask, randomStyleTask, styleScore } from '../../worlds/style/family.ts';
import { type Edit, edited, randomEdit, readEdit, writeEdit } from '../../worlds/style/rules.ts';

/** The library of every run before it is edited: a rule that counts and one that does not. */
export const START_RULES: readonly string[] = ['source', 'long'];
const MAX_RULES = 8;

/** Preferences of a run. The orchestrator is shown the first ones, the others decide which edits are kept. */
export const SHOWN = 40;
const PREFERENCES = 100;
/** Edits that are tried in a round. */
export const TRIED = 8;

export const libraryState = v.object({
  rules: v.array(v.string()),
  /** Of the preferences that are shown, the places of those that the rules get wrong or leave open. */
  missed: v.array(finite),
});
export type LibraryState = v.InferOutput<typeof libraryState>;
export const stateOf = (recipeState: unknown): LibraryState =>
  readState(libraryState, recipeState) ?? {
    rules: [...START_RULES],
    missed: Array.from({ length: SHOWN }, (_, i) => i),
  };

/** Two responses to a task. */
export interface Pair {
  readonly task: string;
  readonly responses: readonly [string, string];
}

/** A pair of responses to a task, of which the oracle scores one higher. */
function drawPair(random: Random, heldOut: boolean): Pair {
  const task = randomStyleTask(random, undefined, heldOut);
  const parsed = parseStyleTask(task);
  if (!parsed.ok) throw new Error(`internal: ${task} is no task: ${parsed.reason}`);
  const draw = () => judgedResponse(random, parsed.value);
  const responses = drawUntil(
    (): [string, string] => [draw(), draw()],
    ([first, second]) => styleScore(task, first) !== styleScore(task, second),
  );
  return { task, responses };
}

/** The pairs of a run, which follow from its seed. */
export function pairsOf({ settings }: Pick<RoundSpec, 'settings'>): Pair[] {
  const random = new Random(`rewardharness/preferences/${settings.seed}`);
  return Array.from({ length: PREFERENCES }, () => drawPair(random, false));
}

/** Pairs on the side of an evaluation, the same for every run. */
export function examinedPairs(heldOut: boolean, count: number): Pair[] {
  const random = new Random(`rewardharness/examined/${heldOut}`);
  return Array.from({ length: count }, () => drawPair(random, heldOut));
}

/** Which of the two is preferred: the place of the one with more points. */
export const preferredOf = ({ task, responses: [first, second] }: Pair): 0 | 1 =>
  styleScore(task, first) > styleScore(task, second) ? 0 : 1;

/** Whether a rule holds for the two responses of each pair [pairs]; null where the judge does not say. */
export type Verdicts = readonly (readonly [boolean | null, boolean | null])[];

/** Of each pair, 1 where more of the rules hold for the preferred response than for the other, 0 where fewer do, ½ where as many do. */
export const agreements = (
  rules: readonly string[],
  verdicts: ReadonlyMap<string, Verdicts>,
  preferred: readonly (0 | 1)[],
): number[] =>
  preferred.map((better, p) => {
    const held = (place: 0 | 1) => rules.filter((rule) => verdicts.get(rule)?.[p]?.[place] === true).length;
    const lead = held(better) - held(better === 0 ? 1 : 0);
    return (1 + Math.sign(lead)) / 2;
  });

/** The edits that the orchestrator wrote most often, most often first; of those that are as frequent the earlier one is first. */
export function favourites(written: readonly string[]): Edit[] {
  const counts = new Map<string, number>();
  for (const edit of written) counts.set(edit, (counts.get(edit) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TRIED)
    .map(([text]) => readEdit(text)!);
}

/** As many different edits that nobody thought about. */
export function drawnEdits({ id }: Pick<RoundSpec, 'id'>, rules: readonly string[]): Edit[] {
  const random = new Random(`${id}/edits`);
  const drawn = new Map<string, Edit>();
  while (drawn.size < TRIED) {
    const edit = randomEdit(random, rules);
    drawn.set(writeEdit(edit), edit);
  }
  return [...drawn.values()];
}

export interface Evolved {
  readonly rules: string[];
  /** Number of edits that were kept. */
  readonly kept: number;
}

/**
 * Tries edits one after the other: an edit is kept where the library agrees with more of the deciding preferences with it than without, or always
 * where there is no gate. No library has more than eight rules.
 */
export function evolve(
  rules: readonly string[],
  edits: readonly Edit[],
  agreement: (rules: readonly string[]) => number,
  gated: boolean,
): Evolved {
  let library = [...rules];
  let kept = 0;
  for (const edit of edits) {
    const next = edited(library, edit);
    if (next.length > MAX_RULES || next.join() === library.join()) continue;
    if (gated && agreement(next) <= agreement(library)) continue;
    library = next;
    kept++;
  }
  return { rules: library, kept };
}

/** Mean agreement on the preferences that decide, and on those alone. */
export const decided = (each: readonly number[]): number => mean(each.slice(SHOWN));
/** The places of the shown preferences that are missed. */
export const missedOf = (each: readonly number[]): number[] =>
  each.slice(0, SHOWN).flatMap((agrees, p) => (agrees === 1 ? [] : [p]));
