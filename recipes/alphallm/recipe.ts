/** AlphaLLM: a policy imagines tasks, searches their answers by the word of critics, and imitates the best. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { ucb } from '../../core/rl/tree-search.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, exactReward } from '../../protocols/answer-rewards.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { passed, requestsLike, writeTasks } from '../../protocols/proposals.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';
import { TREE_FIGURES } from '../../protocols/trees/evaluate.ts';
import { searchedRound } from '../../protocols/trees/round.ts';
import {
  byClass,
  byValue,
  outcomeValues,
  questionOf,
  type RecordedNode,
  recordedNodes,
  type TreeSearch,
  valueItems,
} from '../../protocols/trees/stage.ts';
import { compositions } from '../../worlds/toy-worlds.ts';

const PROPOSER = 'proposer';
/** The parameter sets of the critics, and the roles that they play: one with a value head, one with two classes. */
const VALUE = 'value';
const CRITIC = 'critic';

/** What a step is worth of which nothing is known, 0 to 1. */
const UNKNOWN = 0.5;

const VARIANTS = {
  'fixed-branches': 'every node has two draws, however much the values after it differ',
  'value-only': 'the value model alone says what steps and answers are worth',
  'best-of-n':
    'answers are sampled whole, for as many tokens as a tree takes, and the critics choose among them',
  'random-trace': 'control: any answer of a tree is imitated, drawn at random',
} as const;

type ImaginedGame = Game<'solve' | 'propose'>;

/** An answer to a task that was imagined is paid what the critics say of it, whatever pays the given tasks. */
const rewards: Readonly<Record<string, AnswerReward>> = {
  exact: {
    ...exactReward,
    description:
      '1 for an exact answer to a given task, which teaches the critics; to an imagined one what these say',
  },
  ...CONTROLS,
};

/** Half of a round's tasks are given, and the policy writes the others; those that it cannot write are given, too. */
async function propose(game: ImaginedGame, context: RoundContext): Promise<Proposals> {
  const given = await game.tasks(context);
  const known = given.tasks.map(({ task }) => task);
  const want = Math.floor(known.length / 2);
  const examples = game.byExample ? known : null;
  const written = await writeTasks(
    game,
    context,
    PROPOSER,
    'propose',
    requestsLike(context, PROPOSER, want, examples),
    { refuse: refuseRepeated(known) },
  );
  const imagined = passed(written);
  const rest = known.slice(0, known.length - imagined.length).map((task) => ({ task, proposal: null }));
  return {
    ...given,
    samples: written.map(({ sample }) => sample),
    tasks: admit(context.round, [...rest, ...imagined]),
  };
}

/** The mean of the critics' words. Of an answer that has ended, the class is that of its outcome. */
function searchIn(context: RoundContext, variant: string | undefined): TreeSearch {
  const [value, right] = [byValue(context, VALUE, UNKNOWN), byClass(context, CRITIC, UNKNOWN)];
  return {
    select: ucb(0.2),
    branching: { least: 2, most: 6, ...(variant === 'fixed-branches' ? {} : { scale: 10 }) },
    estimate: async (nodes) => {
      const values = await value(nodes);
      if (variant === 'value-only') return values;
      const rights = await right(nodes);
      return values.map((one, i) => (one! + rights[i]!) / 2);
    },
    unknown: UNKNOWN,
    worst: 0,
    ...(variant === 'best-of-n' ? { whole: true } : {}),
  };
}

/** An answer to a task that the policy imagined has the critics' word as its reward. */
const byCritics = (group: ScoredGroup): ScoredGroup =>
  group.proposal === null
    ? group
    : {
        ...group,
        samples: group.samples.map((sample) => {
          const { estimate = null } = sample.rewards;
          const reward = sample.outcome === 'ok' ? estimate : 0;
          return sample.of === undefined ? { ...sample, rewards: { ...sample.rewards, reward } } : sample;
        }),
      };

/** The answers of a tree that can be read. */
const readable = (nodes: readonly RecordedNode[]): RecordedNode[] =>
  nodes.filter(({ sample }) => sample.of === undefined && sample.outcome === 'ok');

/** The answer of an imagined task that is imitated: the first of those that the critics find best; undefined where none can be read. */
function traceOf(nodes: readonly RecordedNode[], group: string, variant: string | undefined) {
  const answers = readable(nodes);
  if (variant === 'random-trace')
    return answers.length ? new Random(`alphallm/${group}`).pick(answers) : undefined;
  const worth = ({ sample }: RecordedNode) => sample.rewards.estimate!;
  return answers
    .filter(({ sample }) => typeof sample.rewards.estimate === 'number')
    .sort((a, b) => worth(b) - worth(a))[0];
}

function learn(game: ImaginedGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const trees = groups.map((of) => {
    const question = questionOf(game, of.task, tools, tools.encode);
    return { of, question, nodes: recordedNodes(of.samples, question) };
  });
  const [given, imagined] = [true, false].map((isGiven) =>
    trees.filter(({ of }) => (of.proposal === null) === isGiven),
  ) as [typeof trees, typeof trees];
  const traces = imagined.flatMap(({ of, question, nodes }) => {
    const trace = traceOf(nodes, of.group, variant);
    return trace ? [{ trace, exact: of.answersExact[of.samples.indexOf(trace.sample)], question }] : [];
  });
  const valued = given.map((tree) => ({ ...tree, values: outcomeValues(tree.nodes) }));
  const marks = valued.flatMap(({ question, nodes, values }) =>
    nodes.flatMap(({ ids }, i) =>
      values[i] === null ? [] : [{ prompt: question, ids, label: Number(values[i]! > 0) }],
    ),
  );
  const checked = traces.filter(({ exact }) => typeof exact === 'boolean');
  return {
    updates: [
      ...updateOf([
        sftPart(
          SOLVER,
          traces.map(({ trace: { ids }, question: prompt }) => ({ prompt, ids })),
        ),
      ]),
      ...updateOf(
        [
          {
            kind: 'value',
            role: VALUE,
            weight: 1,
            items: valued.flatMap(({ question, nodes, values }) => valueItems(question, nodes, values)),
          },
        ],
        {},
        VALUE,
      ),
      ...updateOf([{ kind: 'classification', role: CRITIC, weight: 1, items: marks }], {}, CRITIC),
    ],
    figures: {
      imitated: traces.length,
      // By the oracle, for the report alone.
      ...(checked.length ? { imitatedExact: mean(checked.map(({ exact }) => Number(exact))) } : {}),
    },
  };
}

const described = {
  name: 'alphallm',
  title: 'Imagined tasks whose answers are searched by critics and imitated',
  paper: arXiv('2404.12253', 'Toward Self-Improvement of LLMs via Imagination, Searching, and Criticizing'),
  summary:
    'A policy writes new tasks, searches their answers by a tree that critics guide, and imitates the best answer of each. Nobody labels what it writes: the critics learn from other tasks, whose answers are known.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters. Half of a round’s are given, one to five calls deep, with known answers. The start policy knows each function alone and the order of calls; it solves most tasks of two calls, some of three and next to none of four, and writes tasks of one call mostly. A step is a call with its result.',
    roles:
      'The proposer writes half of the tasks. The solver draws steps. Two critics, copies of the policy with a head and weights of their own, read the question and what is written so far: one gives a value, the other the probability that the last step, or the answer, is right. A tree goes down by UCB with c = 0.2, and a node may have two to six draws, 10·I + 1 where the values after it differ from its own by I at most. It may draw as many tokens as a group’s rollouts of the longest length.',
    rewards:
      'The worth of a step or an answer is the mean of both critics’ words. An answer to a given task earns 1 if it is exact and 0 otherwise, which pays nobody and teaches the critics.',
    credit:
      'On given tasks the value of a step is the share of right answers among those below it; its class is right where any of them is.',
    objective:
      'The policy learns the likelihood of the answer that the critics find best of each imagined task. The value model learns by squared error at the end of each step, the other critic by cross-entropy there.',
    schedule:
      'Each round writes tasks, searches all of them with the models as they are, and makes one pass over its trees with each.',
  },
  differences: [
    'Three critics are two: whether a step and whether an answer is right are asked of the same head. None of them may use tools, and no small policy plays answers to their end. How the paper weighs them could not be checked.',
    'Critics learn from trees of the round’s given tasks, beginning at 1/2, so that the first answers that are imitated are the policy’s own; the paper trains critics beforehand on labelled solutions.',
    'The policy writes tasks as it was taught to, after an example from a file or none; the paper rewrites given tasks. Equal steps are one node, where the paper also joins steps that mean the same; a node is drawn below again, too, where new steps promise more than those that are there.',
  ],
  figures: {
    ...TREE_FIGURES,
    imitated: 'Number of answers to imagined tasks that the policy learned from.',
    imitatedExact: 'Share of them that are exact, where a checker knows: a check of the critics.',
  },
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ warmup: 5 }) },
    [VALUE]: { optimizer: smallSteps({ learningRate: 1e-3, warmup: 5 }), head: { kind: 'value' } },
    [CRITIC]: {
      optimizer: smallSteps({ learningRate: 1e-3, warmup: 5 }),
      head: { kind: 'classes', count: 2 },
    },
  },
} satisfies Described;

const written: RecipeOver<'solve' | 'propose'> = {
  needs: { verbs: ['solve', 'propose'], data: ['answer'] },
  over: (game) => {
    const shape = searchedRound(game, {
      rewards,
      critics: {
        [VALUE]: 'says what an unfinished answer is worth',
        [CRITIC]: 'says whether a step or an answer is right',
      },
      search: (context) => searchIn(context, context.round.settings.variant),
    });
    return {
      ...described,
      ...shape,
      roles: {
        [PROPOSER]: role('writes tasks', game.words.propose.maxNew),
        ...shape.roles,
      },
      propose: (context) => propose(game, context),
      judge: async (context, groups) => (await shape.judge(context, groups)).map(byCritics),
      learn: async (records, tools) => learn(game, records, tools),
    };
  },
  elsewhere: {
    method: {
      setting:
        'Half of a round’s questions are given, with reference answers, and the policy writes the others after them. A step is a line of an answer; where the policy’s tokens have no line break, it is up to 48 tokens.',
    },
  },
  ownReward: 'what an answer is paid teaches its critics, and is 1 or 0',
};

export const alphaLlm = played(written, compositions);
