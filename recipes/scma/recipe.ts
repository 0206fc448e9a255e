/** SCMA: a segmenter and a scorer of importance help a reasoner to leave out what does not matter. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { heldOutAnswers, heldOutFigures } from '../../protocols/evaluate/solver.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import { groupItems, policyPart, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { beginning } from '../../worlds/arithmetic/aided.ts';
import { isFiller, rambledArithmetic, readerWords, totalsKept } from '../../worlds/arithmetic/rambling.ts';
import { slippingTask } from '../../worlds/arithmetic/step-slips.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import {
  type CompressedGame,
  judge,
  readingFigures,
  SCORER,
  SEGMENTER,
  VARIANTS,
  withSharedAdvantages,
} from './compress.ts';

/** Held-out tasks of an evaluation, and samples of each. */
const EXAMINED = 200;
const DRAWS = 2;

function learn(
  game: CompressedGame,
  { groups }: RoundRecords,
  tools: LearnTools,
  filler?: typeof isFiller,
): TrainingPlan {
  const advantages = new Map(
    groupItems(groups, grpo).map(({ sample, advantage }) => [sample.id, advantage as number]),
  );
  const parts = [SOLVER, SEGMENTER, SCORER].map((role) =>
    policyPart(role, withSharedAdvantages(groups, role, advantages), ppoClip()),
  );
  return { updates: updateOf(parts), figures: readingFigures(game, groups, tools, filler) };
}

/** Filler and totals are counted in sampled answers that parse. */
async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const { evaluationTasks: asked } = context;
  const tasks = rambledArithmetic.heldOut({ ...asked, most: Math.min(asked.most, EXAMINED) });
  const ask = (seed: string, temperature: number) =>
    heldOutAnswers({ family: rambledArithmetic, role: SOLVER, tasks }, context, { seed, temperature });
  const greedy = await ask('greedy', 0);
  const sampled = [];
  for (let draw = 0; draw < DRAWS; draw++) sampled.push(...(await ask(`natural/${draw}`, 1)));
  const read = sampled.flatMap((said, i) =>
    said.ok ? [{ task: tasks[i % tasks.length]!, lines: said.value.steps }] : [],
  );
  const fillerTokens = (lines: readonly string[]) =>
    context.tokenizer.encode(beginning(lines.filter(isFiller))).length;
  return evaluation(heldOutFigures(rambledArithmetic, tasks, { greedy, sampled }), {
    filler: mean(read.map(({ lines }) => fillerTokens(lines))),
    kept: mean(read.map(({ task, lines }) => totalsKept(task, lines))),
  });
}

const described = {
  name: 'scma',
  title: 'A segmenter and a scorer of importance shorten a reasoner’s answers',
  paper: arXiv('2601.21919', 'Self-Compression of Chain-of-Thought via Multi-Agent Reinforcement Learning'),
  summary:
    'One policy reasons, cuts its reasoning into chunks and says how important each chunk is. Exact answers are paid, and the tokens before an answer cost the more the less important their chunk is. All three roles earn what the answer earns.',
  method: {
    setting:
      'A reasoner answers arithmetic chains in lines. Its start policy jumps to the answer in four of ten cases before all totals are stated, and is wrong more often the more it leaves out; before a total or the answer it writes a line of filler as often as not. Segmenter and scorer were taught to tell totals from filler: one in ten of the segmenter’s marks is wrong, and one in five of the scorer’s digits is drawn at random.',
    roles:
      'The solver is the reasoner and answers each task eight times. The segmenter marks at which lines of an answer a chunk begins, so that no line is lost, and the scorer gives each chunk an importance from 1 to 5, once for each answer. All three are one set of weights and differ by their prompts.',
    rewards:
      'An exact answer earns 1 and any other 0. Each token before the answer costs 3.2 · (5 - s)/4, divided by the longest answer’s number of tokens, where s is the score of its chunk: 0.05 at most for answers of 64 tokens. Where the segmentation or the scores do not parse each token costs as much as with the lowest score, and so does each of a text without an answer. A segmentation and its scores earn what their answer earns.',
    credit:
      'The advantage of an answer is its reward minus the mean of its task’s answers, divided by their deviation (GRPO). Its segmentation and its scores have the same advantage.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over the tokens of each role, summed over the three roles. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The paper’s formula for the penalty could not be checked. This one is linear in length and in importance, and it is taken from wrong answers too.',
    'The segmenter marks lines in place of writing the reasoning again with tags, so that it cannot change it.',
    'Scores lower what their own answer costs, so that the scorer gains by calling everything important. Nothing here prevents it, and figures show how far it goes.',
    'What is superfluous has words of its own here and is told by them; superfluous sentences of a language model are harder to see.',
  ],
  figures: {
    filler: 'Mean tokens of filler in sampled held-out answers that parse.',
    kept: 'Share of the task’s totals that sampled held-out answers state, right or wrong, mean over answers that parse.',
    readable: 'Share of the segmented answers whose segmentation and scores parse.',
    totalImportance: 'Mean score, 1 to 5, of the chunks in which totals stand, over totals.',
    fillerImportance: 'Mean score, 1 to 5, of the chunks in which filler stands, over lines of filler.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'segment' | 'weigh'> = {
  needs: { verbs: ['solve', 'segment', 'weigh'], data: ['answer'] },
  over: (game) => {
    const { roles, ...alone } = solverAlone({ ...game, draws: DRAWS });
    return {
      ...described,
      ...alone,
      roles: {
        ...roles,
        [SEGMENTER]: role('marks where chunks of an answer begin', game.words.segment.maxNew),
        [SCORER]: role('scores how important each chunk is', game.words.weigh.maxNew),
      },
      freezable: [SEGMENTER, SCORER],
      judge: (context, groups) => judge(game, context, groups),
      learn: (records, tools) => learn(game, records, tools),
    };
  },
  elsewhere: {
    figures: { readable: described.figures.readable },
    differences: described.differences.slice(0, -1),
  },
  ownReward: 'what an answer costs by its tokens is a part of the reward',
};

const rambled = familyGame(rambledArithmetic, {
  words: readerWords,
  tasks: (context, count) => drawnTasks(context, slippingTask, count),
});

export const scma = played(written, rambled, {
  learn: (records, tools) => learn(rambled, records, tools, isFiller),
  evaluate,
});
