/** Self-critical training of a writer of questions, paid for meaning beside words. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { raw, rloo } from '../../core/rl/estimators/index.ts';
import { mean, present } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS } from '../../protocols/answer-rewards.ts';
import { heldOutAnswers, heldOutFigures } from '../../protocols/evaluate/solver.ts';
import { sftPart } from '../../protocols/objectives.ts';
import { answer, rollOut } from '../../protocols/roll-out.ts';
import { writtenBy } from '../../protocols/samples-of-role.ts';
import { creditedItems, policyPart, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { meaningOverlap, parseAsked, questions, wordOverlap } from '../../worlds/documents/questions.ts';
import { STOP } from '../../worlds/worked.ts';

/** The role that decodes greedily, and is not trained. */
const GREEDY = 'greedy';
/** Weight of the reference’s negative log-likelihood beside the policy gradient. */
const LIKELIHOOD = 0.1;
/** Samples of each held-out task behind the sampled figures. */
const DRAWS = 2;

/** Pays in [0, 1] what a question shares with the reference, and 0 where it does not parse. */
const overlapReward = (
  description: string,
  overlap: (task: string, question: string) => number,
): AnswerReward => ({
  description,
  usesGold: true,
  pay: ({ answers, group }) =>
    answers.map((question) => (question === null ? 0 : overlap(group.task, question))),
});

const rewards = {
  both: overlapReward(
    'the mean of what a question shares with the reference in words and in meaning',
    (task, question) => (wordOverlap(task, question) + meaningOverlap(task, question)) / 2,
  ),
  words: overlapReward('what a question shares with the reference in words', wordOverlap),
  meaning: overlapReward('what a question shares with the reference in meaning', meaningOverlap),
  ...CONTROLS,
};

/** A greedy question for every task, and then those that are drawn. */
async function ask(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const wanted = tasks.map(({ group, task }) => ({ group, task, count: 1 }));
  const greedy = await answer(questions, context, GREEDY, wanted);
  const drawn = await rollOut({ family: questions }, context, tasks);
  return drawn.map((group, g) => ({ ...group, samples: [...greedy[g]!, ...group.samples] }));
}

/** What each variant subtracts from the reward of a drawn question. */
const BASELINES = { 'self-critical': 'greedy', 'no-baseline': 'none', 'group-baseline': 'group' } as const;
const VARIANTS = {
  'no-baseline': 'the reward is the advantage',
  'group-baseline': 'the mean reward of the other questions for the same task is the baseline',
} as const;

const HOW = { objective: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } } as const;

function learn({ round, groups }: RoundRecords, { encode }: LearnTools): TrainingPlan {
  const drawn = groups.map((group) => writtenBy(group, SOLVER));
  const samples = drawn.flatMap((group) => group.samples);
  const keys = drawn.flatMap((group) => group.samples.map(() => group.group));
  const greedyRewards = groups.map((group) => writtenBy(group, GREEDY).samples[0]!.rewards.reward ?? null);
  const paid = samples.map(({ rewards: { reward } }) => reward ?? null);
  const ofGreedy = drawn.flatMap((group, g) => group.samples.map(() => greedyRewards[g]!));
  /** Advantages by each baseline, all of the same questions [samples]; null where a reward is missing. */
  const advantages = {
    none: raw(paid),
    greedy: paid.map((reward, i) => (reward === null || ofGreedy[i] === null ? null : reward - ofGreedy[i]!)),
    group: rloo(paid, keys),
  };
  const baseline = BASELINES[(round.settings.variant ?? 'self-critical') as keyof typeof BASELINES];
  const references = groups.map(({ task }) => ({
    prompt: encode(questions.solverPrompt(task)),
    ids: encode(parseAsked(task)!.reference + STOP),
  }));
  const meanSquare = (values: readonly (number | null)[]) => mean(present(values).map((value) => value ** 2));
  return {
    updates: [
      {
        set: MAIN_SET,
        parts: [
          {
            ...policyPart(
              SOLVER,
              creditedItems(samples, paid, keys, () => advantages[baseline]),
              HOW,
            ),
            weight: 1 - LIKELIHOOD,
          },
          sftPart(SOLVER, references, LIKELIHOOD),
        ],
      },
    ],
    figures: {
      'square.none': meanSquare(advantages.none),
      'square.greedy': meanSquare(advantages.greedy),
      'square.group': meanSquare(advantages.group),
    },
  };
}

async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const tasks = questions.heldOut(context.evaluationTasks);
  const asked = (seed: string, temperature: number) =>
    heldOutAnswers({ family: questions, role: SOLVER, tasks }, context, { seed, temperature });
  const greedy = await asked('greedy', 0);
  const sampled = (
    await Promise.all(Array.from({ length: DRAWS }, (_, draw) => asked(`natural/${draw}`, 1)))
  ).flat();
  const said = sampled.flatMap((one, i) => {
    const task = tasks[i % tasks.length]!;
    return one.ok ? [{ task, question: one.value.answer, parsed: parseAsked(task)! }] : [];
  });
  const inOtherWords = said.filter(
    ({ task, question, parsed }) => question !== parsed.reference && meaningOverlap(task, question) === 1,
  );
  return evaluation(heldOutFigures(questions, tasks, { greedy, sampled }), {
    words: mean(said.map(({ task, question }) => wordOverlap(task, question))),
    meaning: mean(said.map(({ task, question }) => meaningOverlap(task, question))),
    paraphrases: inOtherWords.length / sampled.length,
  });
}

const { roles, ...alone } = solverAlone({ family: questions, rewards });

export const qgScst: WithoutSetup = {
  name: 'qg-scst',
  title: 'Questions for a given answer, paid for meaning above the greedy question',
  paper: arXiv('2108.12026', 'Semantic-based Self-Critical Training For Question Generation'),
  summary:
    'A solver reads a passage and an answer in it, and writes a question. It is paid for what the question shares with a reference question, in words and in meaning, and is compared with its own greedy question: only what is better than that is reinforced.',
  method: {
    setting:
      'A passage states five facts, a name with a number each, and a tag marks one of the names, the answer. A question asks for a name by its number or by the name beside it, in three forms; several questions therefore have the same answer, and one of them, drawn at random, is the reference. The start policy was shown questions of all forms, of which one in three asks for another name.',
    roles:
      'The solver writes eight questions for each answer at temperature 1, and one by greedy decoding, which is not trained on.',
    rewards:
      'A question earns the mean of two overlaps with the reference. In words it is the mean of BLEU’s precisions of words and of pairs of words. In meaning it is the number of names that answer both questions, divided by the number of those that answer either. What does not parse earns 0.',
    credit:
      'The advantage of a question is its reward minus that of the greedy question for the same answer. It is not scaled.',
    objective:
      'REINFORCE as a mean over tokens, with weight 0.9, and the negative log-likelihood of the references with weight 0.1.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  needsOfTasks: {
    datum: 'corpus',
    which: 'documents with an answer marked in them, about which a question is written',
  },
  differences: [
    'Passages, answers and questions have a notation of their own, in which the meaning of a question is computed exactly: the names that answer it. The paper measures meaning by learned evaluators, which can be wrong and can be gamed.',
    'Overlap in words is the arithmetic mean of two precisions, since questions have two words; BLEU is a geometric mean of four, with a penalty for brevity.',
    'The paper’s weight of the likelihood could not be checked.',
    'Four optimiser steps on one batch, of which the last three are slightly off-policy; REINFORCE has no ratios.',
  ],
  figures: {
    'square.none':
      'Mean square of the rewards of a round’s questions: that of their advantages if nothing were subtracted. For the same questions, less is less variance of the gradient.',
    'square.greedy':
      'Mean square of the advantages of the same questions if the greedy question’s reward is subtracted.',
    'square.group':
      'Mean square of the advantages of the same questions if the mean reward of the others is subtracted.',
    words: 'Mean overlap in words of sampled held-out questions with the references, of those that parse.',
    meaning:
      'Mean overlap in meaning of sampled held-out questions with the references, of those that parse.',
    paraphrases: 'Share of sampled held-out questions that mean the same as the reference in other words.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
  ...alone,
  roles: {
    ...roles,
    [GREEDY]: role('writes the greedy question that others are compared with', questions.maxNew.solver, {
      speaksAs: SOLVER,
      sampling: { temperature: 0 },
    }),
  },
  rollOut: ask,
  learn,
  evaluate,
};
