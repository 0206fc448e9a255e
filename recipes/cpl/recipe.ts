/** Critical plan step learning: the steps of a search tree are compared by how much their values differ. */
import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  Sequence,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { puct, siblingPair } from '../../core/rl/tree-search.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { exactAndControls } from '../../protocols/answer-rewards.ts';
import { preferencePart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { rewardNamed, SOLVER, smallSteps } from '../../protocols/solver.ts';
import { TREE_FIGURES } from '../../protocols/trees/evaluate.ts';
import { searchedRound } from '../../protocols/trees/round.ts';
import {
  byReward,
  byValue,
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

/** Values go from −1, wrong, to 1, right. */
const UNKNOWN = 0;
/** Siblings that are no further apart say nothing of a step. */
const LEAST_APART = 0.2;
const BETA = 0.3;
/** Right answers of a tree that are imitated, at most. */
const TRACES = 2;

const VARIANTS = {
  'step-dpo': 'the same pairs of steps by DPO, however far apart their values are',
  'outcome-dpo': 'a right and a wrong answer of each tree by DPO, as a whole',
  'random-values': 'control: the values by which steps are paired are drawn at random',
  'imitation-only': 'right answers are imitated, and no steps are compared',
} as const;

const guided = {
  select: puct(1.5),
  branching: { least: 4, most: 4 },
  unknown: UNKNOWN,
  worst: -1,
} as const;

/** In training the reward of an answer is known where it ends; the value model speaks of all other steps. */
function searchIn(game: TreeGame, context: RoundContext, tasks: readonly AdmittedTask[]): TreeSearch {
  const reward = rewardNamed(exactAndControls, context.round.settings.rewardFunction);
  const of = new Map(tasks.map((task) => [task.group, task]));
  const ends = byReward(
    game,
    reward,
    context,
    SOLVER,
    (group) => of.get(group)!,
    (paid) => 2 * paid - 1,
  );
  const before = byValue(context, VALUE, UNKNOWN);
  return {
    ...guided,
    estimate: async (nodes) => {
      const paid = await ends(nodes);
      const open = nodes.filter(({ standing }) => standing === 'open');
      const values = (await before(open)).values();
      return nodes.map(({ standing }, i) => (standing === 'open' ? values.next().value! : paid[i]!));
    },
  };
}

interface SearchedTask {
  readonly question: readonly number[];
  readonly nodes: readonly RecordedNode[];
}

/** The best and the worst of the steps after each node that had several, by values [nodes]. */
function stepPairs({ question, nodes }: SearchedTask, values: readonly number[], offset: boolean) {
  const siblings = new Map<number | null, number[]>();
  for (const [i, { parent }] of nodes.entries()) siblings.set(parent, [...(siblings.get(parent) ?? []), i]);
  return [...siblings].flatMap(([parent, at]): PreferencePair[] => {
    const pair = siblingPair(
      at.map((i) => values[i]!),
      LEAST_APART,
    );
    if (!pair) return [];
    const before = parent === null ? [] : nodes[parent]!.ids;
    const step = (which: number): Sequence => ({
      prompt: [...question, ...before],
      ids: nodes[at[which]!]!.ids.slice(before.length),
    });
    const chosen = step(pair.better);
    return [{ chosen, rejected: step(pair.worse), ...(offset ? { offset: pair.apart } : {}) }];
  });
}

/** The right answers and those that are not, each as a whole, in the order in which they were found. */
const answersIn = ({ question, nodes }: SearchedTask, right: boolean): Sequence[] =>
  nodes
    .filter(({ reward, sample }) => reward !== null && sample.of === undefined && (reward === 1) === right)
    .map(({ ids }) => ({ prompt: question, ids }));

function pairsOf(tree: SearchedTask, variant: string | undefined): PreferencePair[] {
  if (variant === 'imitation-only') return [];
  if (variant === 'outcome-dpo') {
    const [chosen, rejected] = [answersIn(tree, true)[0], answersIn(tree, false)[0]];
    return chosen && rejected ? [{ chosen, rejected }] : [];
  }
  const values = tree.nodes.map(({ sample }) =>
    variant === 'random-values'
      ? 2 * new Random(`cpl/${sample.id}`).float() - 1
      : (sample.rewards.value ?? UNKNOWN),
  );
  return stepPairs(tree, values, variant !== 'step-dpo');
}

function learn(game: TreeGame, { round, groups, version }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const trees = groups.map(({ task, samples }): SearchedTask => {
    const question = questionOf(game, task, tools, tools.encode);
    return { question, nodes: recordedNodes(samples, question) };
  });
  const pairs = trees.flatMap((tree) => pairsOf(tree, variant));
  const items = trees.flatMap(({ question, nodes }) =>
    valueItems(
      question,
      nodes,
      nodes.map(({ sample }) => sample.rewards.value ?? null),
    ),
  );
  const traces = trees.flatMap((tree) => answersIn(tree, true).slice(0, TRACES));
  return {
    updates: [
      ...updateOf([
        sftPart(SOLVER, traces),
        preferencePart(SOLVER, pairs, { kind: 'dpo', beta: BETA }, { set: MAIN_SET, version }),
      ]),
      ...updateOf([{ kind: 'value', role: VALUE, weight: 1, items }], {}, VALUE),
    ],
    figures: {
      solvedTrees: mean(trees.map((tree) => Number(answersIn(tree, true).length > 0))),
      pairs: pairs.length,
      ...(pairs.length ? { apart: mean(pairs.map(({ offset = 0 }) => offset)) } : {}),
    },
  };
}

const described = {
  name: 'cpl',
  title: 'Steps of a search tree that are preferred by as much as their values differ',
  paper: arXiv('2409.08642', 'CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks'),
  summary:
    'Each task is searched by a tree of steps, in which the value of every step is backed up from the answers below it. The policy learns to prefer the best step after a beginning to the worst one, the more the further their values are apart, and a value model learns the values.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters, one to five calls deep. The start policy knows each function alone and the order of calls; it solves most tasks of two calls, some of three and next to none of four. A step is a call with its result. Answers are checked, steps are not.',
    roles:
      'The solver draws steps, four where the tree arrives. The tree goes down by PUCT with c = 1.5, in which the share of a node’s draws that came to a step stands for the policy’s probability. The value model, a copy of the policy with a head and weights of its own, says what an unfinished answer is worth. A tree may draw as many tokens as a group’s rollouts of the longest length.',
    rewards: 'A right answer is worth 1 and any other, also one that is cut off, −1.',
    credit:
      'The value of a step is the mean of its own by the value model and of those after it, each counted as often as it was visited. After each beginning from which several steps were drawn, the best and the worst are a pair where their values are more than 0.2 apart.',
    objective:
      'Step-APO: −log σ(β·(ℓ_w − ℓ_l) − (V_w − V_l)), with ℓ the log-ratio of a step to the policy that the round begins from and β = 0.3; and beside it the likelihood of up to two right answers of each tree. The value model learns the values by squared error at the end of each step.',
    schedule: 'Each round searches with both models, and then makes one pass over its trees with each.',
  },
  differences: [
    'Steps are those of the solution. The paper’s trees are over plans in words, which are worked out afterwards, so that what is learned carries over to other kinds of tasks; here it can carry over to deeper ones alone.',
    'Right answers are imitated in the same update as steps are compared, in the paper before it; rounds are many and small where the paper has two.',
    'β, the constant of PUCT, the scale of values and how far apart a pair must be could not be checked. Each step counts as visited when it is drawn, equal steps are one node, and a node is drawn below again where new steps promise more than those that are there.',
  ],
  figures: {
    ...TREE_FIGURES,
    solvedTrees: 'Share of the round’s trees in which a right answer was found.',
    pairs: 'Number of pairs that the policy learned from.',
    apart: 'Mean difference of value of the steps in a pair, from 0 to 2.',
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
      search: (context, tasks) => searchIn(game, context, tasks),
      examined: (context) => ({ ...guided, estimate: byValue(context, VALUE, UNKNOWN) }),
    }),
    learn: async (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    method: {
      setting:
        'Questions have reference answers, and a step is a line of an answer; where the policy’s tokens have no line break, it is up to 48 tokens.',
    },
  },
  ownReward: 'its tree is searched by what an answer is paid, which is 1 or 0',
};

export const cpl = played(written, compositions);
