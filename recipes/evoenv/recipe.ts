/** EvoEnv: one policy writes executable environments, and is trained on those that layers of checks admit. */
import type { LearnTools, ProposalTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { InvalidOutcome, Outcome } from '../../core/schema/outcome.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerReward,
  acceptedAtRandom,
  CONTROLS,
  exactReward,
} from '../../protocols/answer-rewards.ts';
import { updateOf } from '../../protocols/objectives.ts';
import { answersTo, reinforced } from '../../protocols/reinforced.ts';
import { rewardNamed, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { differentReferences, environments, isSound } from '../../worlds/programs/environments.ts';
import { attempt, scoreAndReview } from './attempts.ts';
import {
  environmentPool,
  given,
  isAdmitted,
  isCalibrated,
  PROPOSER,
  poolAfter,
  poolOf,
  proposeEnvironments,
  REVIEWER,
  type Tried,
  triedOf,
} from './pool.ts';

/** Samples of each held-out task behind the sampled accuracy. */
const DRAWS = 4;
/** The share of attempts that is to be right: an environment is worth the more the closer it is. */
const TARGET = 0.3;

const VARIANTS = {
  'fixed-pool': 'the ten environments that are given, and nobody writes others',
  'no-novelty': 'near-copies and repetitions of environments are admitted',
  'no-review': 'the policy does not review environments before they are admitted',
} as const;

const rewards: Readonly<Record<string, AnswerReward>> = {
  scorer: { ...exactReward, description: '1 for an answer that the environment’s scorer accepts' },
  ...CONTROLS,
  random: acceptedAtRandom('answers'),
};

/** What an environment is worth by the share of attempts that are right: 1 at the target, falling on both sides, and 0 at both ends. */
export const calibration = (rate: number): number =>
  rate > 0 && rate < 1 ? 1 - Math.abs(rate - TARGET) / (1 - TARGET) : 0;

/** `tried` is undefined for a proposal that was not tried: one that no layer refused has no reward then, and a held-out one never has. */
export function proposerReward(outcome: Outcome, tried: Tried | undefined): number | null {
  if (outcome === 'held-out') return null;
  if (outcome !== 'ok') return 0;
  if (!tried) return null;
  return tried.rejected ? 0 : calibration(tried.rate);
}

const byProposal = (groups: readonly ScoredGroup[], tools: Pick<LearnTools, 'decode'>) =>
  new Map(groups.map((group) => [group.proposal, triedOf(group, tools)]));

function payProposals(
  { proposals, groups }: RoundRecords,
  tools: ProposalTools,
): ReadonlyMap<string, number | null> {
  const tried = byProposal(groups, tools);
  return new Map(proposals.samples.map(({ id, outcome }) => [id, proposerReward(outcome, tried.get(id))]));
}

/** The layers in order that refuse by an outcome, with the figure that counts what is left after each. Every other outcome is a text that does not parse. */
const LAYERS: readonly (readonly [InvalidOutcome, string])[] = [
  ['undefined', 'instantiated'],
  ['unvaried', 'varied'],
  ['gives-away', 'scored'],
  ['near-copy', 'novel'],
];

/** Shares of the proposals that are left after each layer; held-out ones are not counted. Those of the last two are among the proposals that were tried. */
export function funnel(samples: readonly Sample[], fresh: readonly Tried[]): Record<string, number> {
  const outcomes = samples.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'held-out');
  if (!outcomes.length) return {};
  const refusals = LAYERS.map(([outcome]) => outcome);
  const left = (from: number) =>
    mean(
      outcomes.map((outcome) =>
        Number(outcome === 'ok' || refusals.slice(from).some((refusal) => refusal === outcome)),
      ),
    );
  return {
    parsed: left(0),
    ...Object.fromEntries(LAYERS.map(([, figure], at) => [figure, left(at + 1)])),
    ...(fresh.length
      ? {
          reviewed: mean(fresh.map(({ rejected }) => Number(!rejected))),
          calibrated: mean(fresh.map((one) => Number(isAdmitted(one)))),
        }
      : {}),
  };
}

function learn(records: RoundRecords, tools: LearnTools): TrainingPlan {
  const { proposals, groups, recipeState } = records;
  const tried = groups.map((group) => triedOf(group, tools));
  const fresh = tried.filter(({ proposal }) => proposal !== null);
  const { samples } = proposals;
  const parts = [
    reinforced(PROPOSER, { samples, to: samples.map(({ about }) => about!) }),
    reinforced(SOLVER, answersTo(groups.filter((_, g) => !tried[g]!.rejected))),
  ].filter(({ items }) => items.length > 0);
  const pool = poolAfter(poolOf(recipeState), tried);
  const sound = (some: readonly Tried[]) => mean(some.map(({ environment }) => Number(isSound(environment))));
  const approved = fresh.filter(({ rejected }) => !rejected);
  return {
    updates: updateOf(parts),
    recipeState: pool,
    figures: {
      ...funnel(proposals.samples, fresh),
      ...(fresh.length
        ? {
            rate: mean(fresh.map(({ rate }) => rate)),
            interior: mean(fresh.map((one) => Number(isCalibrated(one)))),
            sound: sound(fresh),
          }
        : {}),
      ...(approved.length ? { approvedSound: sound(approved) } : {}),
      pool: pool.length,
      different: differentReferences([...given(), ...pool]),
    },
  };
}

export const evoenv: WithoutSetup = {
  name: 'evoenv',
  title: 'One policy that writes the environments it is trained on',
  paper: arXiv(
    '2605.14392',
    'Learning to Build the Environment: Self-Evolving Reasoning RL via Verifiable Environment Synthesis',
  ),
  summary:
    'One policy writes environments as pairs of programs, a sampler of instances and a reference that scores answers, and solves instances of them. Layers of checks decide which environments join the pool: an interpreter, reviews by the policy itself, how often the solver is right, and how unlike the environment is to those that are known. Who writes is paid for environments that are solved three times in ten.',
  method: {
    setting:
      'An environment is two short programs over lists of numbers. The sampler makes an instance of a random list; the reference says what is right about it, either as the output that it gives, or as the output that an answer of the solver has to give. An interpreter with bounded fuel and memory runs all programs. Ten environments with a reference of one instruction are given. In the start policy a quarter of the answers slip, and a proposer varies what it is shown without regard to the layers.',
    roles:
      'The proposer is shown an environment of the pool and writes another one, four times for each of eight. The solver makes four attempts at each of two instances: of new environments, up to half of a round’s, and of environments of the pool. The reviewer, the same policy at temperature 0.6, says three times of each new environment whether every instruction of its reference matters.',
    rewards:
      'The solver earns 1 for an answer that the scorer accepts. An environment is refused by the first layer that it fails: it parses; it has an instance and an answer on each of eight seeds; instances and answers vary; what the solver is shown is no answer itself; it is no near-copy of a known one (a cosine of 0.8 or more between the instructions of their references); no review calls it unsound; the share p of right attempts lies strictly between 0 and 1. Its author earns 1 - |p - 0.3| / 0.7 for one that passes all layers, and 0 otherwise.',
    credit:
      'Rewards are standardised among the environments that were written beside the same one, and among the attempts at one instance (GRPO). Attempts at environments that a review refused are not trained on.',
    objective:
      'A clipped policy gradient for both roles, ratios in [0.8, 1.2], with a mean over each role’s tokens. There is no KL term.',
    schedule:
      'Each round writes, solves, reviews and makes one update of the shared weights. What passed all layers joins the pool; an environment of the pool that is always or never solved in a round leaves it, but for the ten that are given.',
  },
  needsOfTasks: {
    datum: 'interpreter',
    which: 'environments that the policy writes as programs and an interpreter runs',
  },
  differences: [
    'Environments are pairs of programs in a small language; the paper’s are Python classes with a sampler, a solver, a renderer and a scorer. The instance and the reference are shown as they are, in place of a rendered question.',
    'The language has neither chance nor state, so that the layer that checks for determinism would refuse nothing and is left out. A scorer’s contract is that it refuses a copy of what the solver is shown.',
    'Reviews ask whether an instruction is idle, which can be checked exactly; the paper’s ask for the meaning of the question, its answer and its scorer.',
    'Novelty is the cosine of counts of instructions and of neighbouring instructions, and not of a language model’s embedding of the source.',
    'Difficulty is measured by eight attempts at two instances, on which the solver is trained, too, and before the reviews; the paper tries eight instances before the environment is admitted, and trains afterwards.',
    'The proposer’s reward, the optimiser and when an environment leaves the pool could not be checked against the paper’s.',
  ],
  figures: {
    parsed: 'Share of the proposals that are two programs.',
    instantiated:
      'Share of the proposals that also have an instance and an answer on every seed that is tried.',
    varied: 'Share of the proposals whose instances and answers also vary.',
    scored: 'Share of the proposals whose scorer also refuses a copy of what is shown.',
    novel: 'Share of the proposals that also are no near-copies, which can be tried by the solver.',
    reviewed: 'Share of the tried proposals that no review calls unsound.',
    calibrated: 'Share of the tried proposals that pass every layer, and join the pool.',
    rate: 'Mean share of attempts at new environments that are right.',
    interior: 'Share of the tried proposals that some attempts solve and others do not.',
    sound: 'Share of the tried proposals in which every instruction matters, by the oracle.',
    approvedSound: 'The same share among those that no review calls unsound.',
    pool: 'Number of environments in the pool beside the ten that are given.',
    different: 'Number of known environments whose references differ in more than digits.',
  },
  // An abduction has no steps.
  ...solverAlone({ family: environments, rewards, draws: DRAWS, force: false }),
  state: environmentPool,
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 3e-4, warmup: 5 }),
  roles: {
    [PROPOSER]: role('writes an environment beside one that it is shown', 72, { shown: 'an environment' }),
    [SOLVER]: role('answers instances, deductions with their steps', 100, {
      shown: 'an instance of an environment',
    }),
    [REVIEWER]: role('says whether an environment is sound', 3, {
      speaksAs: 'judge',
      sampling: { temperature: 0.6 },
      shown: 'the environment that it is asked about',
    }),
  },
  freezable: [PROPOSER, SOLVER],
  propose: proposeEnvironments,
  rollOut: attempt,
  judge: (context, groups) =>
    scoreAndReview(context, groups, rewardNamed(rewards, context.round.settings.rewardFunction)),
  payProposals,
  learn,
};
