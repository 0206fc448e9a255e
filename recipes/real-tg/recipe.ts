/** ReaL-TG: links of temporal graphs are forecast in words and paid by F1 alone. */
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { type AnswerReward, CONTROLS } from '../../protocols/answer-rewards.ts';
import { heldOutAnswers, heldOutFigures } from '../../protocols/evaluate/solver.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  isAligned,
  isFaithful,
  linksF1,
  renamed,
  temporalGraphs,
} from '../../worlds/temporal-graphs/family.ts';

const f1Reward: AnswerReward = {
  description: 'F1 of the named nodes, 0 for an answer that does not parse',
  usesGold: true,
  pay: ({ answers, group }) => answers.map((answer) => (answer === null ? 0 : linksF1(group.task, answer))),
};

/** Mean F1 of answers to these tasks. */
const f1Of = (tasks: readonly string[], answers: readonly ParseResult<Solution>[]): number =>
  mean(answers.map((said, i) => (said.ok ? linksF1(tasks[i]!, said.value.answer) : 0)));

/** How far explanations can be relied on: shares of steps that list the graph's own times, and of answers that name what their steps expect. */
export function explanations(
  tasks: readonly string[],
  answers: readonly ParseResult<Solution>[],
): { faithful: number; aligned: number } {
  const parsed = answers.flatMap((said, i) => (said.ok ? [{ task: tasks[i]!, solution: said.value }] : []));
  return {
    faithful: mean(
      parsed.flatMap(({ task, solution }) => solution.steps.map((step) => Number(isFaithful(task, step)))),
    ),
    aligned: mean(parsed.map(({ task, solution }) => Number(isAligned(task, solution)))),
  };
}

async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const tasks = temporalGraphs.heldOut(context.evaluationTasks);
  const ask = (seed: string, temperature: number, asked = tasks) =>
    heldOutAnswers({ family: temporalGraphs, role: SOLVER, tasks: asked }, context, { seed, temperature });
  const greedy = await ask('greedy', 0);
  const sampled = await ask('natural', 1);
  const otherNames = tasks.map(renamed);
  return evaluation(heldOutFigures(temporalGraphs, tasks, { greedy, sampled }), {
    f1: f1Of(tasks, greedy),
    sampledF1: f1Of(tasks, sampled),
    renamedF1: f1Of(otherNames, await ask('renamed', 0, otherNames)),
    ...explanations(tasks, sampled),
  });
}

export const realTg: WithoutSetup = {
  name: 'real-tg',
  title: 'Links of temporal graphs, forecast in words and paid by F1',
  paper: arXiv(
    '2509.00975',
    'Self-Exploring Language Models for Explainable Link Forecasting on Temporal Graphs via Reinforcement Learning',
  ),
  summary:
    'A solver reads the links around a node of a temporal graph, goes through its contacts in writing, and names the nodes to which it links next. It is paid the F1 of these nodes, and what it writes before them is neither paid nor checked.',
  method: {
    setting:
      'A graph of ten nodes has links at times 1 to 8. A node links to a contact again after the time between the last two such links. Walks that go back in time from the node that is asked about choose five nodes, whose links are the task; the solver is to name the one to three nodes to which the node links next, at time 7, 8 or 9. The start policy lists the times of each contact’s links, with slips in more than half of the steps; in four of ten solutions it expects the next by their gap, in the others one time after the last.',
    roles:
      'The solver is the only role. It answers each task eight times, with nodes named by letters of the first half of the alphabet.',
    rewards:
      'An answer is paid 2·hits / (nodes named + nodes that are right). There is no reward for the explanation.',
    credit:
      'The advantage is the reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  needsOfTasks: { datum: 'graphs', which: 'graphs whose links have times' },
  differences: [
    'Graphs are drawn, and their links follow a rule, so that every question has one answer. The paper’s are of real interactions, of which no model foresees all.',
    'Walks’ ends are computed exactly rather than sampled; of the paper’s α and β, the probabilities of ending and of older links, the values could not be checked.',
    'The explanation is checked exactly, where the paper has a language model judge it. A step lists the times of a contact’s links and the next one.',
    'The paper ranks nodes by whether they are named, in a mean reciprocal rank; here F1 is both the reward and the measure.',
  ],
  figures: {
    f1: 'F1 of the nodes named in held-out graphs, greedy, mean over graphs.',
    sampledF1: 'F1 of the nodes named in held-out graphs, sampled at temperature 1, mean over graphs.',
    renamedF1:
      'F1 of the nodes named in the same graphs with other names, which no reward was paid on, greedy.',
    faithful: 'Share of the steps of sampled answers that list the times at which the graph has these links.',
    aligned:
      'Share of sampled answers that name the nodes that their steps expect at the time asked about, and no others.',
  },
  sets: trainedSolver({ warmup: 10 }),
  ...solverAlone({
    family: temporalGraphs,
    rewards: { f1: f1Reward, ...CONTROLS },
  }),
  learn: ({ groups }) => ({ updates: grpoUpdate(groups) }),
  evaluate,
};
