/** The statements of STP: a fixed set to prove, and conjectures in the same rule systems. */
import * as v from 'valibot';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { passed, proposeThrough } from '../../protocols/proposals.ts';
import { fixedTasks } from '../../worlds/drawn-tasks.ts';
import {
  PROPOSE,
  parseConjecture,
  randomRewriting,
  randomWalk,
  rewriting,
} from '../../worlds/rewriting/family.ts';
import { parseInstance } from '../../worlds/rewriting/system.ts';

export const CONJECTURER = 'conjecturer';

/** Statements whose shortest derivation has two to four lines. */
const SETTINGS = { rules: 3, letters: 5, steps: [2, 4] } as const;
const STATEMENT_COUNT = 256;
const HELD_OUT_COUNT = 100;

/** Derivations in string rewriting systems, as the start policy writes them. */
export const derivations: TaskFamily = {
  ...rewriting,
  random: (random) => randomRewriting(random, SETTINGS),
  heldOut: heldOutTasks(
    rewriting.name,
    HELD_OUT_COUNT,
    (random, heldOut) => randomRewriting(random, SETTINGS, heldOut),
    rewriting.isHeldOut,
  ),
  answerIsExact: (task, solution) => rewriting.answerIsExact(task, solution),
  exactJudgment: (task, solution) => rewriting.exactJudgment(task, solution),
};

/** The set to prove; no statement in it is held out. */
export const statements = fixedTasks('stp/statements', STATEMENT_COUNT, (random) =>
  derivations.random(random),
);

/** A text that is trained on, in each round in which it is replayed. */
const example = v.object({
  /** The round in which it was written. */
  round: finite,
  role: v.string(),
  prompt: v.string(),
  text: v.string(),
  weight: finite,
});
export type Example = Readonly<v.InferOutput<typeof example>>;

export const stpState = v.object({
  /** The statements of the set that were proved so far. */
  proved: v.array(v.string()),
  /** The examples of the last rounds. */
  examples: v.array(example),
});
export type StpState = v.InferOutput<typeof stpState>;

export const stateOf = (recipeState: unknown): StpState =>
  readState(stpState, recipeState) ?? { proved: [], examples: [] };

export const unproved = ({ proved }: StpState): string[] => {
  const done = new Set(proved);
  return statements().filter((statement) => !done.has(statement));
};

const rulesOf = (statement: string): string => statement.split(';')[0]!;

/** A conjecture that no policy wrote: the end of a random walk by the rules of a statement. */
function walked(random: Random, statement: string): string {
  const instance = parseInstance(statement);
  if (!instance.ok) throw new Error(`internal: ${statement} is no statement`);
  const { letters, steps } = SETTINGS;
  return drawUntil(
    () => randomWalk(random, instance.value.rules, letters, steps),
    (task) => parseInstance(task).ok,
  );
}

/**
 * Half of a round's tasks are conjectures. Each is asked for in the rules of a statement that is drawn from the set, and is admitted if it parses, is
 * new in this round and is not in the set. The other tasks are statements without a proof so far; they also replace refused conjectures, so that
 * every round has as many tasks, and every variant as many attempts.
 */
export async function propose(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const random = new Random(`${round.id}/statements`);
  const seeds = Array.from({ length: variant === 'expert-iteration' ? 0 : Math.floor(count / 2) }, () =>
    random.pick(statements()),
  );
  const byWalk = variant === 'random-conjectures';
  const proposed = byWalk ? [] : await conjecture(context, seeds);
  const repeats = refuseRepeated(statements());
  const conjectures = byWalk
    ? seeds
        .map((seed) => ({ task: walked(random, seed), proposal: null }))
        .filter(({ task }) => repeats(task) === null)
    : passed(proposed);
  const targets = random
    .shuffle(unproved(stateOf(await context.recipeState())))
    .slice(0, count - conjectures.length)
    .map((task) => ({ task, proposal: null }));
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...conjectures, ...targets]),
  };
}

/** Asks for one conjecture in the rules of each seed. */
const conjecture = (context: RoundContext, seeds: readonly string[]) =>
  proposeThrough(
    context,
    CONJECTURER,
    seeds.map((seed, i) => ({
      rules: rulesOf(seed),
      prompt: `${PROPOSE}${rulesOf(seed)};`,
      sampleIds: [proposalId(context.round.id, CONJECTURER, i)],
    })),
    {
      parse: (text, { rules }) => parseConjecture(`${rules};${text}`),
      isHeldOut: rewriting.isHeldOut,
      refuse: refuseRepeated(statements()),
    },
  );
