/** SPINE: TTRL that trains only the tokens at which an answer forks, and keeps their entropy within a band. */
import type {
  EntropyBounds,
  LearnTools,
  PolicyItem,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { CONTROLS, exactReward, majorityReward } from '../../protocols/answer-rewards.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { LABEL_FIGURES, labelFigures, testTasks } from '../../protocols/test-time.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { nextTests } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { bandBetween, countOf, forkMask, maskOf } from './forks.ts';

/** The share of an answer's tokens that are its forks. */
const FORKS = 0.2;
/** The quantiles of the forks' entropies that bound the band. */
const BAND = { low: 0.1, high: 0.5 } as const;
const BAND_WEIGHT = 0.1;
/** Passes over a batch, as in the recipe ttrl. */
const EPOCHS = 4;

const VARIANTS = {
  'all-tokens': 'every token is trained and there is no band: TTRL',
  'no-band': 'forks alone are trained, without a band for their entropy',
  'random-fifth':
    'as many tokens of each answer are trained, drawn at random, with the band of their entropies',
} as const;

/** A random choice of as many of a sample's tokens as it has forks. */
const randomMask = ({ id, ids }: Sample): number[] =>
  maskOf(
    new Random(`${id}/fifth`).shuffle(ids.map((_, t) => t)).slice(0, countOf(FORKS, ids.length)),
    ids.length,
  );

/** The values [tokens] at the places whose mask is `wanted`. */
const where = (values: Numbers, mask: Numbers, wanted: 0 | 1): number[] =>
  Array.from(values).filter((_, t) => mask[t] === wanted);

/** The band of each sample, by its id, from the entropies of all forks in its group. `forks` [samples by id][forks], nats. */
const bandsOf = (
  groups: RoundRecords['groups'],
  forks: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, EntropyBounds> =>
  new Map(
    groups.flatMap(({ samples }) => {
      const mine = samples.filter(({ id }) => forks.has(id));
      const together = mine.flatMap(({ id }) => forks.get(id)!);
      const band = bandBetween(together, BAND.low, BAND.high);
      return mine.map(({ id }) => [id, band] as const);
    }),
  );

async function learn(
  { round: { settings }, groups }: RoundRecords,
  tools: Pick<LearnTools, 'entropies'>,
): Promise<TrainingPlan> {
  const { variant } = settings;
  const items = groupItems(groups, grpo);
  const samples = items.map(({ sample }) => sample);
  const entropies = await tools.entropies(MAIN_SET, samples);
  const masks = samples.map((sample, i) =>
    variant === 'random-fifth' ? randomMask(sample) : forkMask(entropies[i]!, FORKS),
  );
  const forks = entropies.map((each, i) => where(each, masks[i]!, 1));
  const bands = bandsOf(groups, new Map(samples.map(({ id }, i) => [id, forks[i]!])));
  const masked = (item: PolicyItem, i: number): PolicyItem => {
    if (variant === 'all-tokens') return item;
    return {
      ...item,
      mask: masks[i]!,
      ...(variant === 'no-band' ? {} : { band: bands.get(item.sample.id)! }),
    };
  };
  return {
    updates: solverUpdate(items.map(masked), {
      ...ppoClip(),
      ...nearStart(0.001),
      ...(variant === undefined || variant === 'random-fifth' ? { entropyBand: BAND_WEIGHT } : {}),
    }).map((update) => ({ ...update, epochs: EPOCHS })),
    figures: {
      ...labelFigures(groups),
      ...(items.length
        ? {
            forkEntropy: mean(forks.flat()),
            otherEntropy: mean(entropies.flatMap((each, i) => where(each, masks[i]!, 0))),
          }
        : {}),
    },
  };
}

const described = {
  name: 'spine',
  title: 'Test-time reinforcement learning at forks',
  paper: arXiv(
    '2511.17938',
    'SPINE: Token-Selective Test-Time Reinforcement Learning with Entropy-Band Regularization',
  ),
  summary:
    'A solver trains on the test tasks by the majority of its own answers, as in TTRL, but only at the tokens where it was least certain how to go on; a second loss draws the entropy of these tokens back into a band.',
  method: {
    setting:
      'The test tasks themselves, chains of two to four operators, are trained on without their labels. The start policy answers seven of ten at once, without steps.',
    roles: 'The solver is the only role. It answers each test task eight times.',
    rewards: '1 for the answer that most of the eight give, otherwise 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO). It counts at the fork tokens alone: the fifth of the answer’s tokens, at least one, that were drawn from the distributions with the highest entropies under the weights that the round trains from.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2], plus 0.001 times a k3 estimate of the KL divergence to version 0, plus 0.1 times the distance of a fork’s entropy from a band, all of it as a mean over fork tokens. The band goes from the 10 % to the 50 % quantile of the entropies that the forks of the task’s answers had before the update.',
    schedule:
      'Each round takes the next 32 tasks of a walk through the test set, shuffled anew each time around, scores its answers once and goes over its batch four times.',
  },
  differences: [
    'Answers have three to twenty tokens and one to four forks each. What a fork is here, a choice between writing steps and answering at once or a digit that may be slipped, is far simpler than in a chain of thought.',
    'The weights of 0.1 for the band and 0.001 for the KL divergence were not checked against the paper’s, nor whether its quantiles are taken over one answer or over the answers to a question: one answer has too few forks here.',
    'Four passes over each batch instead of one, and a constant step size: updates cost less here than rollouts.',
  ],
  figures: {
    ...LABEL_FIGURES,
    forkEntropy: 'Mean entropy of the policy at the trained tokens, nats per token.',
    otherEntropy: 'Mean entropy of the policy at the tokens that are left out, nats per token.',
  },
  variants: VARIANTS,
  sets: trainedSolver(),
  learn,
} satisfies Described;

const written: RecipeOver<'solve'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({
      ...game,
      rewards: { majority: majorityReward, gold: exactReward, ...CONTROLS },
      tasks: (context) => nextTests(game, context, game.tests(context.evaluationTasks)),
    }),
  }),
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'it walks through all held-out questions',
};

export const spine = played(written, familyGame(arithmetic, { tests: testTasks }));
