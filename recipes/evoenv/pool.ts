/** The environments that a policy trains on: ten that are given, and those that it wrote and that every layer admitted. */
import * as v from 'valibot';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { passed, proposeThrough } from '../../protocols/proposals.ts';
import {
  drawSeeds,
  environmentOfTask,
  isHeldOutEnvironment,
  likeness,
  mechanicalFault,
  parseProposedEnvironment,
  parseReview,
  proposerPromptAfter,
  randomEnvironment,
} from '../../worlds/programs/environments.ts';

export const PROPOSER = 'proposer';
export const REVIEWER = 'reviewer';

/** Environments that are asked for beside one that is shown, and for each of a round’s tasks: layers refuse most. */
const EACH = 4;
const ASKED = 2;
/** Tasks that an environment gives in a round. */
const INSTANCES = 2;
const GIVEN_COUNT = 10;
const MAX_KEPT = 48;
/** The likeness from which on an environment is a near-copy. */
const NEAR = 0.8;

/** The environments that the policy wrote and that were admitted, oldest first; the given ones are not in it. */
export const environmentPool = v.array(v.string());
export const poolOf = (recipeState: unknown): readonly string[] =>
  readState(environmentPool, recipeState) ?? [];

let drawnGiven: readonly string[] | undefined;
/** The ten environments that are given, whose references have one instruction: the same in every run. */
export function given(): readonly string[] {
  if (drawnGiven) return drawnGiven;
  const random = new Random('evoenv/given');
  const all: string[] = [];
  while (all.length < GIVEN_COUNT) {
    const drawn = randomEnvironment(random, false, [1, 1]);
    if (!isNearCopy(drawn, all)) all.push(drawn);
  }
  drawnGiven = all;
  return drawnGiven;
}

const isNearCopy = (environment: string, known: readonly string[]): boolean =>
  known.some((other) => likeness(environment, other) >= NEAR);

/** The layers that need no policy: the mechanical ones, and novelty beside what is known and what was proposed before it in the round. */
function refusal(known: readonly string[], novel: boolean): (environment: string) => InvalidOutcome | null {
  const all = [...known];
  return (environment) => {
    const fault = mechanicalFault(environment);
    if (fault) return fault;
    if (novel && isNearCopy(environment, all)) return 'near-copy';
    all.push(environment);
    return null;
  };
}

/**
 * Asks for twice as many environments as a round has tasks, four beside each of some that are known. Of those that pass the first layers, at most half as
 * many as there are tasks become tasks; known environments are the others. Each is tried by two instances, which differ from round to round.
 */
export async function proposeEnvironments(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const random = new Random(`${round.id}/environments`);
  const known = [...given(), ...poolOf(await context.recipeState())];
  const shown = Array.from({ length: variant === 'fixed-pool' ? 0 : Math.ceil((ASKED * count) / EACH) }, () =>
    random.pick(known),
  );
  const proposed = await proposeThrough(
    context,
    PROPOSER,
    shown.map((environment, r) => ({
      prompt: proposerPromptAfter(environment),
      about: environment,
      sampleIds: Array.from({ length: EACH }, (_, i) => proposalId(round.id, PROPOSER, r * EACH + i)),
    })),
    {
      parse: parseProposedEnvironment,
      isHeldOut: isHeldOutEnvironment,
      refuse: refusal(known, variant !== 'no-novelty'),
    },
  );
  const fresh = passed(proposed).slice(0, Math.floor(count / 2));
  const order = random.shuffle(known);
  const old = Array.from({ length: count - fresh.length }, (_, i) => ({
    task: order[i % order.length]!,
    proposal: null,
  }));
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(
      round,
      [...fresh, ...old].map(({ task, proposal }) => ({
        task: [task, ...drawSeeds(random, task, INSTANCES)].join(';'),
        proposal,
      })),
    ),
  };
}

/** What a round found out about an environment. */
export interface Tried {
  readonly environment: string;
  readonly proposal: string | null;
  /** The share of attempts that its scorer accepts. */
  readonly rate: number;
  /** Whether a review called it unsound; reviews that cannot be read say nothing. */
  readonly rejected: boolean;
}

export const solveRate = (attempts: readonly Sample[]): number =>
  mean(attempts.map(({ rewards }) => Number(rewards.reward === 1)));

export const triedOf = (
  { task, proposal, samples, judgments }: ScoredGroup,
  { decode }: Pick<LearnTools, 'decode'>,
): Tried => ({
  environment: environmentOfTask(task),
  proposal,
  rate: solveRate(samples),
  rejected: judgments.some(({ ids }) => {
    const review = parseReview(decode(ids));
    return review.ok && !review.value;
  }),
});

/** The last layer: neither always nor never solved. */
export const isCalibrated = ({ rate }: Pick<Tried, 'rate'>): boolean => rate > 0 && rate < 1;

export const isAdmitted = (tried: Tried): boolean => !tried.rejected && isCalibrated(tried);

/** The pool after a round: what is always or never solved leaves it, and what was admitted joins it. */
export function poolAfter(pool: readonly string[], tried: readonly Tried[]): string[] {
  const spent = new Set(
    tried.filter((one) => one.proposal === null && !isCalibrated(one)).map(({ environment }) => environment),
  );
  const fresh = tried.filter((one) => one.proposal !== null && isAdmitted(one));
  const kept = pool.filter((environment) => !spent.has(environment));
  return [...new Set([...kept, ...fresh.map(({ environment }) => environment)])].slice(-MAX_KEPT);
}
