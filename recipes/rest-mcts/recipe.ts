/** ReST-MCTS*: a tree that a value model guides gives traces to imitate and values of steps to learn. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { processValues, ucb } from '../../core/rl/tree-search.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { exactAndControls } from '../../protocols/answer-rewards.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';
import { TREE_FIGURES } from '../../protocols/trees/evaluate.ts';
import { searchedRound } from '../../protocols/trees/round.ts';
import {
  byValue,
  outcomeValues,
  questionOf,
  type RecordedNode,
  recordedNodes,
  type TreeGame,
  type TreeSearch,
  valueItems,
} from '../../protocols/trees/stage.ts';
import { compositions } from '../../worlds/toy-worlds.ts';

/** The parameter set with the value head, and the role that it plays. */
const VALUE = 'value';

/** What a step is worth of which nothing is known, 0 to 1. */
const UNKNOWN = 0.5;
/** The constant of UCB. */
const EXPLORATION = 0.2;
/** Right answers that are imitated of each tree, at most. */
const TRACES = 2;

const VARIANTS = {
  'no-value': 'nothing guides the tree: every step counts as one half, so that it is searched evenly',
  'outcome-values': 'the value model learns of every step how often answers below it are right',
  sampling:
    'answers are sampled whole, for as many tokens as a tree takes, and right ones are imitated: ReST-EM',
} as const;

const searchIn = (context: RoundContext, variant: string | undefined): TreeSearch => ({
  select: ucb(EXPLORATION),
  branching: { least: 3, most: 3 },
  estimate:
    variant === 'no-value' ? async (nodes) => nodes.map(() => UNKNOWN) : byValue(context, VALUE, UNKNOWN),
  unknown: UNKNOWN,
  worst: 0,
  ...(variant === 'sampling' ? { whole: true } : { rollOut: { steps: 3, weight: 0.5 } }),
});

/** The right answers of a tree, those first that were found to be worth most. */
const tracesOf = (nodes: readonly RecordedNode[]): RecordedNode[] =>
  nodes
    .filter(({ reward }) => reward === 1)
    .sort((a, b) => b.sample.rewards.value! - a.sample.rewards.value!)
    .slice(0, TRACES);

function learn(game: TreeGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const trees = groups.map(({ task, samples }) => {
    const question = questionOf(game, task, tools, tools.encode);
    return { question, nodes: recordedNodes(samples, question) };
  });
  const valued = round.settings.variant === 'outcome-values' ? outcomeValues : processOf;
  const traces = trees.flatMap(({ question, nodes }) =>
    tracesOf(nodes).map(({ ids }) => ({ prompt: question, ids })),
  );
  const items = trees.flatMap(({ question, nodes }) => valueItems(question, nodes, valued(nodes)));
  return {
    updates: [
      ...updateOf([sftPart(SOLVER, traces)]),
      ...updateOf([{ kind: 'value', role: VALUE, weight: 1, items }], {}, VALUE),
    ],
    figures: {
      solvedTrees: mean(trees.map(({ nodes }) => Number(nodes.some(({ reward }) => reward === 1)))),
      nodes: mean(trees.map(({ nodes }) => nodes.length)),
    },
  };
}

const processOf = (nodes: readonly RecordedNode[]): (number | null)[] =>
  processValues(nodes.map(({ parent, reward }) => ({ parent, right: reward === 1 })));

const described = {
  name: 'rest-mcts',
  title: 'A tree search that teaches the policy its traces and the value model its steps',
  paper: arXiv('2406.03816', 'ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search'),
  summary:
    'Each task is searched by a tree of steps that a value model guides. The right answers that are found teach the policy, and where they stand in the tree says what each step was worth, which teaches the value model; both search the next round.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters, one to five calls deep. The start policy knows each function alone and the order of calls; it solves most tasks of two calls, some of three and next to none of four. A step is a call with its result. Answers are checked, steps are not.',
    roles:
      'The solver draws steps. The value model, a copy of the policy with a head and weights of its own, reads the question and the steps so far. A tree goes down by UCB with c = 0.2, draws three steps where it arrives, goes on with the best of them greedily for up to three steps, and counts the best value on that way by half. It may draw as many tokens as a group’s rollouts of the longest length.',
    rewards: 'An answer earns 1 if it is exact and 0 otherwise. No step is judged.',
    credit:
      'With v = 0 of the question, a step is worth v + (1 − v)·r/m, no less than 0, where v is the worth of the step before, r is 1 on the way to a right answer of the tree and −1 elsewhere, and m is the number of steps to the nearest right answer, itself included; a step that leads to none has the m of its last ancestor that does. A tree without a right answer teaches nothing.',
    objective:
      'The policy learns the likelihood of up to two right answers of each tree, those that the search found to be worth most; the value model the squared error at the end of each step.',
    schedule: 'Each round searches with both models, and then makes one pass over its trees with each.',
  },
  differences: [
    'Rounds on fresh tasks, and one pass over each; the paper has two or three rounds over one set of tasks and learns from earlier rounds again. Its value model begins from labels made by sampling, here from a head that says 1/2.',
    'A search ends with its budget, and not with an answer of 0.9: so its answers can be compared with others at equal tokens. With the paper’s c = 0.7·√2 a tree of some twenty nodes would be searched evenly.',
    'Each step counts as visited when it is drawn, and its own value counts beside those after it; equal steps are one node, and a node is drawn below again where new steps promise more than those that are there. The paper asks a policy in words to criticise a step before the next one, which is left out.',
  ],
  figures: {
    ...TREE_FIGURES,
    solvedTrees: 'Share of the round’s trees in which a right answer was found.',
    nodes: 'Mean number of different steps in a tree.',
  },
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ warmup: 5 }) },
    [VALUE]: { optimizer: smallSteps({ learningRate: 1e-3, warmup: 5 }), head: { kind: 'value' } },
  },
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...searchedRound(game, {
      rewards: exactAndControls,
      critics: { [VALUE]: 'says what an unfinished answer is worth' },
      search: (context) => searchIn(context, context.round.settings.variant),
    }),
    learn: async (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    method: {
      setting:
        'Questions have reference answers, and a step is a line of an answer; where the policy’s tokens have no line break, it is up to 48 tokens.',
    },
  },
  ownReward: 'what an answer is paid decides what is imitated and what steps were worth, and is 1 or 0',
};

export const restMcts = played(written, compositions);
