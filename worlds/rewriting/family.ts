/**
 * The prover’s tasks: find a derivation from a start to a goal. Each step is checked against the one before it, as in a proof, so that an error is at
 * one step and later steps can still be right.
 *
 *     proposer  <propose>rw:                            ->  ab>ba,ca>b;abca;abb;bab<eos>
 *     solver    <solve>ab>ba,ca>b;abca;bab<sep>         ->  <step>abb<step>bab<answer>bab<eos>
 *     judge     <judge>task<sep>solution<sep>           ->  <ok><ok><right><eos>
 *
 * A proposer may write the derivation from start to goal (above: by way of abb), which shows it that the goal can be reached. The derivation is not
 * part of the task and is not checked: the exact checker decides whether there is one.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { parseJudgment, parseWorked, STOP, withoutStop, writeSolution } from '../worked.ts';
import {
  derive,
  isWord,
  MAX_DERIVATION,
  parseInstance,
  type Rule,
  successors,
  writeInstance,
  writeRules,
} from './system.ts';

const NAME = 'rewriting';
const HELD_OUT_COUNT = 200;
export const PROPOSE = '<propose>rw:';

export interface RewritingSettings {
  readonly rules: number;
  /** Letters of the start. */
  readonly letters: number;
  /** Least and most steps of a shortest derivation. */
  readonly steps: readonly [number, number];
}

const DEFAULT_SETTINGS: RewritingSettings = { rules: 3, letters: 5, steps: [1, 4] };

/** Steps of a shortest derivation; null where there is none that is short enough, or where the text is no instance. */
export function shortestDerivation(task: string): readonly string[] | null {
  const instance = parseInstance(task);
  if (!instance.ok) return null;
  const search = derive(instance.value);
  return search.kind === 'derivation' && search.words.length <= MAX_DERIVATION ? search.words : null;
}

/** The key is the rule system, in any order of rules: a held-out system is never seen, whatever the start and goal. */
function isHeldOut(task: string): boolean {
  const instance = parseInstance(task);
  return instance.ok && isHeldOutKey(NAME, writeRules(instance.value.rules).split(',').sort().join());
}

const randomWord = (random: Random, length: number): string =>
  Array.from({ length }, () => random.pick(['a', 'b', 'c'])).join('');

/** An instance that can be derived if it is an instance at all: its goal is the end of a random walk of so many steps from a random start. */
export function randomWalk(
  random: Random,
  rules: readonly Rule[],
  letters: number,
  [least, most]: RewritingSettings['steps'],
): string {
  const start = randomWord(random, letters);
  let goal = start;
  for (let left = least + random.int(most - least + 1); left > 0; left--)
    goal = random.pick([goal, ...successors(rules, goal)]);
  return writeInstance({ rules, start, goal });
}

/** A solvable instance on the wanted side of the split. The goal is where a random walk from the start ends; the oracle computes the length of the shortest derivation. */
export function randomRewriting(
  random: Random,
  { rules: count, letters, steps: [least, most] }: RewritingSettings = DEFAULT_SETTINGS,
  heldOut = false,
): string {
  return drawUntil(
    () => {
      const rules = Array.from(
        { length: count },
        (): Rule => ({
          from: randomWord(random, 1 + random.int(2)),
          to: randomWord(random, 1 + random.int(2)),
        }),
      );
      return randomWalk(random, rules, letters, [least, most]);
    },
    (task) => {
      // The split is checked first, because the exact checker is expensive.
      if (!parseInstance(task).ok || isHeldOut(task) !== heldOut) return false;
      const length = shortestDerivation(task)?.length ?? 0;
      return length >= least && length <= most;
    },
  );
}

/** Verdicts on each step given the one before, and whether all hold and the last is the goal. */
function exactJudgment(task: string, solution: Solution): Judgment {
  const instance = parseInstance(task);
  if (!instance.ok) return { steps: solution.steps.map(() => false), right: false };
  const { rules, start, goal } = instance.value;
  const steps = solution.steps.map((word, i) =>
    successors(rules, i === 0 ? start : solution.steps[i - 1]!).includes(word),
  );
  const arrives = solution.steps.at(-1) === goal && solution.answer === goal;
  return { steps, right: arrives && steps.every(Boolean) };
}

/** One to eight steps: an answer without a derivation is not accepted as a solution. */
function parseSolution(_task: string, text: string): ParseResult<Solution> {
  const parsed = parseWorked(text, { step: isWord, answer: isWord });
  if (!parsed.ok) return parsed;
  const { length } = parsed.value.steps;
  if (length === 0) return invalid('no-derivation');
  return length <= MAX_DERIVATION ? parsed : invalid('too-long');
}

/** A task that a proposer asks, whether or not it can be derived: a conjecture. */
export function parseConjecture(text: string): ParseResult<string> {
  const task = withoutStop(text);
  if (task === null) return invalid('off-grammar');
  const [rules, start, ...way] = task.split(';');
  const goal = way.pop();
  if (way.length >= MAX_DERIVATION || !way.every(isWord)) return invalid('off-grammar');
  const asked = [rules, start, goal].join(';');
  const instance = parseInstance(asked);
  return instance.ok ? ok(asked) : instance;
}

function parseProposal(text: string): ParseResult<string> {
  const conjecture = parseConjecture(text);
  return !conjecture.ok || shortestDerivation(conjecture.value) ? conjecture : invalid('not-derivable');
}

/** A task with a shortest way from its start to its goal, as a proposer writes it. */
export function writeProposal(task: string): string {
  const [rules, start] = task.split(';');
  return [rules, start, ...(shortestDerivation(task) ?? [])].join(';');
}

/**
 * A shortest derivation in which `errors` random lines are replaced by words that do not follow. For `errors` > 0 it always has a wrong line;
 * `exactJudgment` says which lines are wrong, since a right line after a wrong one does not follow from it either.
 */
export function flawedDerivation(random: Random, task: string, errors: number): Solution {
  const instance = parseInstance(task);
  const words = shortestDerivation(task);
  if (!instance.ok || !words) return { steps: [], answer: '' };
  const { rules, start, goal } = instance.value;
  const steps = [...words];
  for (let i = 0; i < errors; i++) {
    const at = random.int(steps.length);
    const before = at === 0 ? start : steps[at - 1]!;
    steps[at] = drawUntil(
      () => randomWord(random, 1 + random.int(6)),
      (word) => !successors(rules, before).includes(word),
    );
  }
  return { steps, answer: goal };
}

export const rewriting: TaskFamily = {
  name: NAME,
  maxNew: { proposer: 80, solver: 101, judge: 10 },
  stop: STOP,
  workedPrefix: '<step>',
  random: (random) => randomRewriting(random),
  heldOut: heldOutTasks(
    NAME,
    HELD_OUT_COUNT,
    (random, heldOut) => randomRewriting(random, DEFAULT_SETTINGS, heldOut),
    isHeldOut,
  ),
  isHeldOut,
  difficulty: (task) => shortestDerivation(task)?.length ?? 0,
  proposerPrompt: () => PROPOSE,
  solverPrompt: (task) => `<solve>${task}<sep>`,
  judgePrompt: (task, solution) => `<judge>${task}<sep>${writeSolution(solution)}<sep>`,
  parseProposal,
  parseSolution,
  parseJudgment,
  // A proof is judged by its steps: without them there is no right answer.
  answerIsExact: (task, solution) => exactJudgment(task, solution).right,
  exactJudgment,
};
