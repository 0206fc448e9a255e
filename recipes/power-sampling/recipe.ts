/** Power sampling: answers are drawn from the policy's own distribution raised to a power, by a Markov chain, and imitated without a verifier. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver, type RoundShape } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { type EvaluationContext, samplingOf } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import {
  type AnswerReward,
  CONTROLS,
  exactReward,
  formatReward,
  majorityReward,
} from '../../protocols/answer-rewards.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { drawWithin } from '../../protocols/solve/sampling.ts';
import { ofFamily, rewardNamed, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import { pathOf, payTree, questionOf } from '../../protocols/trees/stage.ts';
import { compositions } from '../../worlds/toy-worlds.ts';
import { rollChains, type Sharpening, sharpened } from './chains.ts';

/** The power, and the steps of a chain, of the paper. */
const ALPHA = 4;
const STEPS = 10;
/** Held-out tasks that are answered by chains. */
const EXAMINED = 48;

const VARIANTS = {
  'training-free': 'nothing is trained: the paper’s own method, whose answers are checked alone',
  'low-temperature': 'answers are drawn token by token at temperature 1/α, without a chain',
  'own-samples': 'control: answers are drawn at temperature 1, without a chain',
  'alpha-2': 'answers are drawn from p²',
  'two-steps': 'a chain takes two steps',
} as const;

const SHARPENINGS: Readonly<Record<string, Sharpening>> = {
  'low-temperature': { alpha: ALPHA, steps: 0 },
  'own-samples': { alpha: 1, steps: 0 },
  'alpha-2': { alpha: 2, steps: STEPS },
  'two-steps': { alpha: ALPHA, steps: 2 },
};
const sharpeningOf = (variant: string | undefined): Sharpening =>
  SHARPENINGS[variant ?? ''] ?? { alpha: ALPHA, steps: STEPS };

/** What is imitated. */
const rewards: Readonly<Record<string, AnswerReward>> = {
  format: { ...formatReward, description: 'no verifier: 1 for any well-formed answer' },
  majority: majorityReward,
  exact: exactReward,
  random: CONTROLS.random,
};

type Sharpened = Game<'solve'>;

function learn(game: Sharpened, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const answers = groups.flatMap(({ task, samples, answersExact }) => {
    const prompt = questionOf(game, task, tools, tools.encode);
    return samples.flatMap((sample, s) =>
      sample.of === undefined
        ? [{ prompt, ids: pathOf(sample, prompt), sample, exact: answersExact[s] === true }]
        : [],
    );
  });
  const imitated = answers.filter(({ sample }) => sample.rewards.reward === 1);
  const steps = groups.flatMap(({ samples }) => samples.filter(({ turn }) => turn! > 0));
  return {
    updates:
      variant === 'training-free'
        ? []
        : updateOf([
            sftPart(
              SOLVER,
              imitated.map(({ prompt, ids }) => ({ prompt, ids })),
            ),
          ]),
    figures: {
      imitated: imitated.length,
      // By the oracle, for the report alone.
      ...(imitated.length ? { imitatedExact: mean(imitated.map(({ exact }) => Number(exact))) } : {}),
      ...(steps.length ? { accepted: mean(steps.map(({ rewards: { accepted } }) => accepted!)) } : {}),
    },
  };
}

/** The first held-out tasks by chains, and beside them by as many tokens of samples. */
async function examine(game: Sharpened, context: EvaluationContext): Promise<Record<string, number>> {
  const { tokenizer, contextLength, evaluationTasks, round } = context;
  const { maxNew } = game.words.solve;
  const family = rendered(game.family, context);
  const asked = game
    .tests(evaluationTasks)
    .slice(0, EXAMINED)
    .map((task) => ({
      task,
      id: deriveId('evaluate', 'chain', task),
      prompt: questionOf(game, task, context, tokenizer.encode),
    }))
    .filter(({ prompt }) => prompt.length + maxNew <= contextLength);
  if (!asked.length) return {};
  const sharpening = sharpeningOf(round.settings.variant);
  const chains = await sharpened(context, asked, maxNew, sharpening);
  const chainTokens = mean(chains.map(({ tokens }) => tokens));
  const { stop, grammar } = samplingOf(context, SOLVER);
  const search = {
    policy: {
      generate: context.generate.bind(null, SOLVER),
      score: context.score.bind(null, SOLVER),
    },
    prompts: asked.map(({ prompt }) => prompt),
    ends: { stop, ...(grammar ? { grammar } : {}) },
    maxNew,
    seed: 0,
  };
  const drawn = await drawWithin({ ...search, budget: chainTokens }, 1);
  const cold = await drawWithin({ ...search, budget: 1 }, 1 / sharpening.alpha);
  const answerOf = (q: number, ids: readonly number[]): string | null => {
    const parsed = family.parseSolution(asked[q]!.task, tokenizer.decode([...ids]));
    return parsed.ok ? parsed.value.answer : null;
  };
  const exactShare = (answers: readonly (string | null | undefined)[]) =>
    mean(
      answers.map((answer, q) =>
        Number(answer != null && family.answerIsExact(asked[q]!.task, { steps: [], answer })),
      ),
    );
  return {
    sharpened: exactShare(chains.map(({ ids }, q) => answerOf(q, ids))),
    lowTemperature: exactShare(cold.map(({ samples }, q) => answerOf(q, samples[0]!.ids))),
    voted: exactShare(
      drawn.map(({ samples }, q) => majority(samples.map(({ ids }) => answerOf(q, ids)))?.answer),
    ),
    chainTokens,
  };
}

const described = {
  name: 'power-sampling',
  title: 'Answers drawn from the policy’s own distribution, sharpened as a whole, and imitated',
  paper: arXiv('2510.14901', 'Reasoning with Sampling: Your Base Model is Smarter Than You Think'),
  summary:
    'A Markov chain over whole answers draws from p^α, the policy’s own distribution raised to a power, without a verifier and without training. The policy imitates these answers, or is left as it is; rewards by a vote or a checker say whether choosing among them would have taught more.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters, one to five calls deep. The start policy knows each function alone and the order of calls; it solves most tasks of two calls, some of three and next to none of four.',
    roles:
      'The solver is the only role. An answer begins as a sample at temperature 1/α with α = 4. Ten times a place of it is drawn uniformly, and what comes after the place is written anew at this temperature. With x and y the answers before and after and q the distribution that is sampled from, the new one is taken with probability min(1, (p(y)/p(x))^α · q(x)/q(y) · |x|/|y|), of the tokens after the place, and lengths of whole answers (Metropolis-Hastings).',
    rewards:
      'An answer that a chain ends with earns 1 if it is well-formed: no verifier. By `--reward majority` it earns 1 if it agrees with most of its group, by `exact` if it is right.',
    credit: 'Answers that earned 1 are imitated, and all alike.',
    objective: 'The policy learns the likelihood of these answers.',
    schedule:
      'Each round draws answers with the policy as it is and makes one pass over them. What is drawn next is the sharpened distribution of the trained policy.',
  },
  differences: [
    'The paper trains nothing, as `--variant training-free` does: its answers are those that are imitated here, so that both can be compared with rewards. Sharpening what was sharpened goes beyond p^4.',
    'A chain goes over the whole answer at once. The paper lets a chain take ten steps for every further 192 tokens; answers here have no more than that, but a user’s may.',
    'Answers end where the policy ends them, so that their lengths differ: the acceptance has the ratio of lengths with which places are drawn.',
  ],
  figures: {
    sharpened: 'Share of held-out tasks to which the answer of a chain is exact.',
    lowTemperature: 'Share of them to which a sample at temperature 1/α is exact.',
    voted:
      'Share of them at which the answer that most samples at temperature 1 give is exact, among as many as take a chain’s tokens.',
    chainTokens: 'Mean tokens that a chain drew.',
    imitated: 'Number of answers that the policy learned from, or would have.',
    imitatedExact: 'Share of them that are exact.',
    accepted: 'Share of the steps of chains that were accepted.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 5 }),
} satisfies Described;

const stages = (game: Sharpened): RoundShape => ({
  ...ofFamily(game.family),
  rewards,
  roles: {
    [SOLVER]: role('writes answers, and parts of them anew', game.words.solve.maxNew, {
      shown: 'the beginning of an answer of its own',
    }),
  },
  propose: async (context) => game.tasks(context),
  rollOut: (context, tasks) => rollChains(game, context, tasks, sharpeningOf(context.round.settings.variant)),
  judge: async (context, groups) => {
    const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
    return groups.map((group) => payTree(game, reward, context, group));
  },
  evaluate: async (context) =>
    evaluation(
      await evaluateSolver(context, {
        family: game.family,
        role: SOLVER,
        temperature: 1,
        tasks: game.tests(context.evaluationTasks),
      }),
      await examine(game, context),
    ),
});

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...stages(game),
    learn: async (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    method: { setting: 'Questions have reference answers, which figures alone read unless the reward does.' },
  },
  ownReward: 'answers that earned 1 are imitated',
};

export const powerSampling = played(written, compositions);
