/** GenRM: a verifier is a language model that writes its check and then its verdict, trained by next-token prediction. */
import type { LearnTools, RoundRecords, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { exactReward, randomReward } from '../../protocols/answer-rewards.ts';
import { BEST_OF_N_FIGURES, evaluateBestOfN } from '../../protocols/evaluate/best-of-n.ts';
import { VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { sftPart } from '../../protocols/objectives.ts';
import { SOLVER, solverAlone } from '../../protocols/solver.ts';
import { OPTIMIZER, solverAndVerifier } from '../../protocols/solver-verifier.ts';
import {
  CHECK_TOKENS,
  checkOf,
  checkPrompt,
  glancePrompt,
  type Labelled,
  writeCheck,
  writeGlance,
} from '../../worlds/arithmetic/answer-checks.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { slippingTask } from '../../worlds/arithmetic/step-slips.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { asManyWrong, bestLabelled, classified, labelledAnswers, pairing } from './labelled-answers.ts';
import { planVerifier } from './own-verdicts.ts';

const VERIFIER = 'verifier';

/** What the verifier is trained on, given some labelled answers. */
export function verifierPart(
  variant: string | undefined,
  items: readonly Labelled[],
  encode: LearnTools['encode'],
  random: Random,
): UpdatePart {
  const part = { role: VERIFIER, weight: 1 } as const;
  const pair = pairing(encode);
  if (variant === 'head') {
    const labelled = items.map((item) => ({ ...classified(item, encode), label: Number(item.right) }));
    return { ...part, kind: 'classification', items: labelled };
  }
  const taught = items.flatMap((item) => {
    if (variant === 'direct') return [pair(glancePrompt(item), writeGlance(item.right))];
    const check = checkOf(item, random);
    return check ? [pair(checkPrompt(item), writeCheck(check))] : [];
  });
  return sftPart(part.role, taught);
}

/** The baselines need no sampling: their scores of some answers, before they are trained on them. */
async function askBaseline(
  variant: string | undefined,
  items: readonly Labelled[],
  { encode, score, classes }: LearnTools,
): Promise<number[]> {
  const pair = pairing(encode);
  const head = variant === 'head';
  const asked = items.map((item) => (head ? classified(item, encode) : pair(glancePrompt(item), '<right>')));
  const rows = await (head ? classes('main', asked) : score('main', asked));
  return rows.map((row) => row.at(-1)!);
}

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const random = new Random(`${round.id}/verifier`);
  const tasks = labelledAnswers(groups, tools.decode);
  const taught = asManyWrong(tasks.flat(), random);
  const verifying = verifierPart(variant, taught, tools.encode, random);
  const items = groups.flatMap(({ samples }) => samples.filter(({ rewards }) => rewards.reward === 1));
  // A round without a right answer trains nothing.
  const updates = items.length ? [{ set: 'main', parts: [verifying, sftPart(SOLVER, items, 0.3)] }] : [];
  if (variant !== 'direct' && variant !== 'head') return { updates };
  const scores = await askBaseline(variant, tasks.flat(), tools);
  return { updates, figures: { bestFresh: bestLabelled(tasks, scores) } };
}

function examine(context: EvaluationContext): Promise<Evaluation> {
  const { variant } = context.round.settings;
  const size = { family: arithmetic, solver: SOLVER, tasks: 125, n: 8 };
  if (variant === 'head') return evaluateBestOfN(context, size);
  const [ask, votes, temperature] =
    variant === 'direct' ? [glancePrompt, [1], 0] : [checkPrompt, [1, 4, 16], 1];
  const prompt = (task: string, solution: Solution) => ask({ task, solution });
  return evaluateBestOfN(context, { ...size, verifier: { role: VERIFIER, prompt, votes, temperature } });
}

const alone = solverAlone({
  family: arithmetic,
  rewards: { exact: exactReward, random: randomReward },
  tasks: (context) => drawnTasks(context, slippingTask),
});

const optimizer = { ...OPTIMIZER, learningRate: 1e-3, minibatches: 8 };

const described = {
  name: 'genrm',
  title: 'A generative verifier: checks, votes, best of N',
  paper: arXiv('2408.15240', 'Generative Verifiers: Reward Modeling as Next-Token Prediction'),
  summary:
    'A solver that stays as it is answers tasks; a verifier is taught to do the sums of those tasks again and then to give a verdict on the answers, by next-token prediction. Of N answers to a held-out task the one is taken that its checks, K of them, find right most surely.',
  method: {
    setting:
      'A solver that never changes answers arithmetic tasks, and an exact checker labels its answers. The verifier starts from weights that can do the sums and compare answers, but that have given no verdict in this form.',
    roles:
      'The solver, fixed at version 0, answers each task eight times. The verifier reads a task and an answer, does the sums again as a written check, and then writes whether the answer is right.',
    rewards:
      'Nobody is paid: the verifier is trained by next-token prediction. Its data are as many right as wrong answers of the round. For each a script writes a check that slips in one of ten; checks whose verdict is not the label are left out.',
    credit: 'Every token of a check and of its verdict counts the same.',
    objective:
      'The negative log-likelihood of checks and verdicts, plus 0.3 times that of the solver’s right answers. The two baselines are a verdict without a check and a classifier on the last token. In the evaluation an answer’s score is the mean, over K sampled checks, of the probability of the verdict `right`, and the best of eight answers to a task is taken.',
    schedule: 'Each round labels fresh answers and makes one pass over them in eight optimiser steps.',
  },
  differences: [
    'N is 8, K up to 16; the paper has 16 or 32 of each. Twelve rounds on fresh answers instead of one corpus; λ, which is not known to be the paper’s, is 0.3.',
    'The verifier starts from weights that can do sums and rate answers, but have given no verdict in this form: a pretrained model’s part.',
    'The verifier is shown answers without their steps: where some have none, a glance at that tells most of what a check does.',
    'A head cannot be asked outside training: it is compared with the glance on fresh tasks, before either learns from them.',
    'No format control: the verifier is taught as many right answers as wrong ones, and by their form all answers would be right, so that nothing would be taught.',
  ],
  figures: {
    ...BEST_OF_N_FIGURES,
    best1:
      'Share of held-out tasks at which the answer of version 0 that one verdict finds likeliest is exact.',
    best4: 'The same share with the mean of four verdicts on each answer.',
    best16: 'The same share with the mean of sixteen verdicts on each answer.',
    bestFresh:
      'Share of the round’s tasks at which the answer that the verifier finds likeliest, before it is trained on them, is exact.',
  },
  variants: {
    direct: 'a verdict at a glance, without a check',
    head: 'a classifier on the last token of the answer',
  },
  bindings: () => ({ [SOLVER]: { pinned: true } }),
} satisfies Described;

/** Answers to each held-out task among which the verifier chooses. */
const ANSWERS = 8;

const written: RecipeOver<'solve' | 'verify'> = {
  needs: { verbs: ['solve', 'verify'], data: ['answer'] },
  over: ({ family, tasks }) => ({
    ...described,
    ...solverAndVerifier({
      family,
      tasks,
      shape: ({ settings: { groupSize } }) => ({ solutions: groupSize, shown: groupSize, votes: 1 }),
      answers: ANSWERS,
    }),
    sets: { main: { optimizer } },
    learn: planVerifier,
  }),
  elsewhere: {
    figures: {
      taught: 'Number of verdicts that the verifier is trained on, as many on right as on wrong answers.',
      agreeing: 'Number of verdicts that agree with the checker.',
      ...VERIFIER_FIGURES,
    },
    variants: { direct: 'a bare verdict, without a check before it' },
    differences: [
      'The checks are the verifier’s own, of which those are kept that come to the checker’s word, where the paper has a stronger model write them and keeps them by the same rule.',
      'The answers that are verified are the fixed solver’s of this round, and each is verified once.',
    ],
  },
  ownReward: 'its verifier is taught what is right and wrong, and nobody is paid',
};

/** Sums, for which a script writes checks. */
export const genrm: WithoutSetup = {
  ...alone,
  ...described,
  written,
  sets: { main: { optimizer, head: { kind: 'classes', count: 2 } } },
  roles: {
    [SOLVER]: { ...alone.roles[SOLVER]!, description: 'answers, frozen' },
    [VERIFIER]: role('checks answers', CHECK_TOKENS, { speaksAs: 'judge' }),
  },
  learn,
  evaluate: examine,
};
