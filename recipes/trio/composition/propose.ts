/** Who composes a round's tasks: the proposer, or in its place a rule that follows the solver's pass rate, or a fixed mixture of depths. */
import * as v from 'valibot';
import { readState, type StateSchema } from '../../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../../core/recipe/round-context.ts';
import { mean } from '../../../core/rl/statistics.ts';
import { proposalId } from '../../../core/round/sample-ids.ts';
import type { RunSettings } from '../../../core/schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../../../core/schema/sample.ts';
import { drawnTasks } from '../../../protocols/drawn-tasks.ts';
import { admit, passed, proposeThrough, refuseRepeated } from '../../../protocols/proposals.ts';
import { composition, DEEPEST_TRAINED, depthOf, randomTask } from '../../../worlds/composition/family.ts';
import { NESTED } from '../../../worlds/composition/functions.ts';

/** Batches of proposals after which a round goes on with the tasks that it has. */
const MAX_ATTEMPTS = 3;
/** Proposals of a batch for each task that is wanted: about a quarter of what the start writes cannot be used. */
const SPARE = 4 / 3;

/** Depths of the rule and of the mixture at first: the shares of tasks of depth 1, 2, 3. */
const FIRST_SHARES = [2, 10, 12];
/** Mean pass rate at the deepest depth over RULE_ROUNDS rounds at which the rule lets the next depth in. */
const RULE_PASSES = 0.7;
const RULE_ROUNDS = 5;

/** What the hand-written rule carries from round to round. */
export const ruleState = v.object({
  /** Share of tasks of each depth, from 1. */
  shares: v.array(v.number()),
  /** Pass rates of the deepest depth in the last rounds. */
  recent: v.array(v.number()),
}) satisfies StateSchema;
type RuleState = v.InferOutput<typeof ruleState>;

export const VARIANTS = {
  rule: 'a hand-written rule in place of the proposer: the next depth joins when the deepest one is passed by 70 % over five rounds',
  mixture: 'a fixed mixture in place of the proposer: depths 1, 2, 3 as 2 : 10 : 12',
} as const;

const FIRST: RuleState = { shares: FIRST_SHARES, recent: [] };

export const ruleOf = (recipeState: unknown): RuleState => readState(ruleState, recipeState) ?? FIRST;

/** The rule after a round: half of the tasks are of a depth that has just joined, the others are spread evenly over those before it. */
export function nextRule({ shares, recent }: RuleState, groups: readonly ScoredGroup[]): RuleState {
  const deepest = shares.length;
  const passes = groups
    .filter(({ task }) => depthOf(task) === deepest)
    .flatMap(({ samples }) => samples.flatMap(({ rewards }) => rewards.passed ?? []));
  const now = passes.length ? [...recent, mean(passes)].slice(-RULE_ROUNDS) : recent;
  if (deepest === DEEPEST_TRAINED || now.length < RULE_ROUNDS || mean(now) < RULE_PASSES)
    return { shares, recent: now };
  return { shares: [...shares.map(() => 1), deepest], recent: [] };
}

/** Tasks of depths in these shares, of the functions that the start was shown nested. */
const drawnByShares = (context: RoundContext, shares: readonly number[]): Proposals => {
  const { tasks } = context.round.settings;
  const total = shares.reduce((a, b) => a + b, 0);
  const most = shares.map((_, i) => (shares.slice(0, i + 1).reduce((a, b) => a + b, 0) * tasks) / total);
  return drawnTasks(context, (random, index) =>
    randomTask(random, 1 + most.findIndex((bound) => index < bound), NESTED),
  );
};

/**
 * Proposes tasks until there are as many as the round wants. The gates are, in this order: grammar, depth and shortcuts; held-out; a task that the round has
 * already. A held-out proposal is recorded, and neither used nor paid.
 */
async function written(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const want = round.settings.tasks;
  const samples: Sample[] = [];
  const tasks: { task: string; proposal: string }[] = [];
  const gate = {
    parse: composition.parseProposal,
    isHeldOut: composition.isHeldOut,
    refuse: refuseRepeated(),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS && tasks.length < want; attempt++) {
    const sampleIds = Array.from({ length: Math.ceil(want * SPARE) }, (_, i) =>
      proposalId(round.id, 'proposer', i, attempt),
    );
    const requests = [{ prompt: composition.proposerPrompt(), sampleIds }];
    for (const proposal of await proposeThrough(context, 'proposer', requests, gate)) {
      // Proposals after the last task that was needed are not part of the round.
      if (tasks.length === want) break;
      samples.push(proposal.sample);
      tasks.push(...passed([proposal]));
    }
  }
  return { round: round.id, samples, tasks: admit(round, tasks) };
}

export async function propose(context: RoundContext): Promise<Proposals> {
  const { variant } = context.round.settings;
  if (variant === 'rule') return drawnByShares(context, ruleOf(await context.recipeState()).shares);
  if (variant === 'mixture') return drawnByShares(context, FIRST_SHARES);
  return written(context);
}

export const proposes = ({ variant }: RunSettings): boolean => variant === undefined;
