/**
 * Trees of answers in a stage of a round. Every draw is a sample of its group's record, with what was found of its node: `estimate`, `value` and `visits`. The
 * answers that ended or were cut off are the group's rollouts; a step before an answer belongs (`of`) to the first of them that came by it, and one that led
 * to none to the first of all.
 */
import type { Game } from '../../core/game/game.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { type RoundContext, sampleOf, samplingOf } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { softmax } from '../../core/same-exp.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, payAnswers } from '../answer-rewards.ts';
import { answerGround, tokensWith } from './ground.ts';
import { type Draw, type Estimate, type Growth, growTrees, type Node, type Tree } from './grow.ts';

export type TreeGame = Pick<Game<'solve'>, 'family' | 'words' | 'stepEnds'>;

/** How answers are searched for. */
export interface TreeSearch
  extends Pick<Growth<null>, 'select' | 'branching' | 'estimate' | 'unknown' | 'worst' | 'rollOut'> {
  /** Answers are drawn whole: the tree has one level, which is sampling. */
  readonly whole?: boolean;
}

/** What ends a step of a solution, unless its world says otherwise. */
const LINE_BREAK = ['\n'];

/** The tokens of a task's prompt, after which its tree grows. */
export const questionOf = (
  { words }: TreeGame,
  task: string,
  speaker: Pick<RoundContext, 'renderer'>,
  encode: (text: string) => TokenIds,
): TokenIds => encode(words.solve.ask({ task }, speaker));

/** The tree of each task, by a role. Its root's id is its group's. */
export async function searchTasks(
  game: TreeGame,
  context: RoundContext,
  role: string,
  tasks: readonly Pick<AdmittedTask, 'group' | 'task'>[],
  { whole = false, ...search }: TreeSearch,
  budget: number,
): Promise<Tree<null>[]> {
  const { tokenizer, recipe } = context;
  const { maxNew } = game.words.solve;
  const { stop } = samplingOf(context, role);
  const steps = whole ? [] : (game.stepEnds ?? LINE_BREAK).flatMap((text) => tokensWith(tokenizer, text));
  const ends = new Set(stop);
  return growTrees(
    tasks.map(({ group, task }) => ({
      id: group,
      prompt: questionOf(game, task, context, tokenizer.encode),
      world: null,
    })),
    {
      ...search,
      role,
      budget,
      draw: (prompts, settings) =>
        context.generate(role, prompts, { ...settings, stop: [...new Set([...stop, ...steps])] }),
      ground: answerGround({
        maxNew,
        ...(whole ? { step: maxNew } : {}),
        isEnded: (prompt, ids) =>
          recipe.stop === undefined ? context.renderer().read(prompt, ids).ended : ends.has(ids.at(-1)!),
      }),
    },
  );
}

/** What a value head says after a node, by the hidden state before the node's last token; `untrained` where the set has none yet. */
export const byValue =
  (context: Pick<RoundContext, 'measure'>, role: string, untrained: number): Estimate<null> =>
  async (nodes) => {
    const measured = await context.measure(role, nodes.map(lastToken));
    return measured.map(({ values }) => values?.[0] ?? untrained);
  };

/** The probability of class 1 after a node, as a process reward model or an outcome reward model gives it; `untrained` where the set has no head yet. */
export const byClass =
  (context: Pick<RoundContext, 'measure'>, role: string, untrained: number): Estimate<null> =>
  async (nodes) => {
    const measured = await context.measure(role, nodes.map(lastToken));
    return measured.map(({ classes }) => (classes ? softmax(classes[0]!)[1]! : untrained));
  };

/** A node as what is measured of it: its last token after all before, so that the record keeps no more. */
const lastToken = ({ tree: { id, prompt }, ids }: Parameters<Estimate<null>>[0][number]) => ({
  group: id,
  prompt: [...prompt, ...ids.slice(0, -1)],
  ids: ids.slice(-1),
});

/** The reward of an answer that has ended; nothing is said of any other. `taskOf`: by the id of the tree. */
export const byReward =
  (
    { family }: TreeGame,
    reward: AnswerReward,
    context: RoundContext,
    role: string,
    taskOf: (group: string) => AdmittedTask,
    scale: (paid: number) => number = (paid) => paid,
  ): Estimate<null> =>
  async (nodes) =>
    nodes.map(({ id, tree, ids, standing }) => {
      if (standing !== 'ended') return null;
      const made = { ids: [...ids], logprobs: [], stopped: true };
      const sample = sampleOf(context, role, id, tree.prompt, made, 'ok');
      const group = { round: context.round.id, ...taskOf(tree.id), samples: [sample] };
      const paid = payAnswers(family, reward, context, group).samples[0]!.rewards.reward;
      return typeof paid === 'number' ? scale(paid) : null;
    });

/** The record of a task's tree. */
export function recordTree(
  game: TreeGame,
  context: RoundContext,
  role: string,
  task: AdmittedTask,
  { draws }: Tree<null>,
): RolloutGroup {
  const family = rendered(game.family, context);
  const outcomeOf = ({ standing, ids }: Node<null>): Outcome => {
    if (standing === 'lost') return 'cut-off';
    if (standing === 'open') return 'ok';
    const parsed = family.parseSolution(task.task, context.tokenizer.decode(ids));
    return parsed.ok ? 'ok' : parsed.reason;
  };
  const sampleFor = ({ node, id, prompt, completion }: Draw<null>): Sample => {
    const { estimate, value, visits, depth } = node;
    const found = { ...(estimate === null ? {} : { estimate }), value, visits };
    return {
      ...sampleOf(context, role, id, prompt, completion, outcomeOf(node), found),
      turn: depth - 1,
    };
  };
  const placed = new Set<Draw<null>>();
  const samples: Sample[] = [];
  const place = (some: readonly Draw<null>[], of?: string) => {
    for (const one of some) {
      placed.add(one);
      samples.push({ ...sampleFor(one), ...(of === undefined ? {} : { of }) });
    }
  };
  for (const answer of draws.filter(({ node }) => node.standing !== 'open')) {
    place([answer]);
    const path = new Set<Node<null>>();
    for (let node = answer.node.parent; node; node = node.parent) path.add(node);
    place(
      draws.filter((one) => path.has(one.node) && !placed.has(one)),
      answer.id,
    );
  }
  const [first, ...rest] = draws.filter((one) => !placed.has(one));
  if (first) {
    const of = samples[0]?.id;
    place([first], of);
    place(rest, of ?? first.id);
  }
  return { round: context.round.id, ...task, samples };
}

/** Pays a tree's answers; its other steps have no reward of their own. */
export function payTree(
  game: TreeGame,
  reward: AnswerReward,
  context: RoundContext,
  group: RolloutGroup,
): ScoredGroup {
  const question = questionOf(game, group.task, context, context.tokenizer.encode);
  const answers = group.samples.filter(({ of }) => of === undefined);
  const paid = payAnswers(game.family, reward, context, {
    ...group,
    samples: answers.map((sample) => ({ ...sample, ids: [...pathOf(sample, question)] })),
  });
  const at = new Map(answers.map(({ id }, i) => [id, i]));
  const known = <T>(values: readonly (T | null)[]) =>
    group.samples.map(({ id }) => (at.has(id) ? values[at.get(id)!]! : null));
  return {
    ...group,
    samples: group.samples.map((sample) => {
      const i = at.get(sample.id);
      if (i === undefined) return sample;
      const { reward } = paid.samples[i]!.rewards;
      return { ...sample, rewards: { ...sample.rewards, reward: reward ?? null } };
    }),
    judgments: [],
    answersExact: known(paid.answersExact),
    solutionsExact: known(paid.solutionsExact),
  };
}

/** All tokens after the question, up to the end of a sample. */
export const pathOf = ({ prompt, ids }: Pick<Sample, 'prompt' | 'ids'>, question: TokenIds): TokenIds => [
  ...prompt.slice(question.length),
  ...ids,
];

/** A node of a recorded tree. */
export interface RecordedNode {
  readonly sample: Sample;
  /** All tokens after the question. */
  readonly ids: TokenIds;
  /** The place of its parent in the list, which comes before it; null for the first steps. */
  readonly parent: number | null;
  /** What its answer was paid; null for a step before one, and where the reward is missing. */
  readonly reward: number | null;
}

/** The nodes of a recorded tree, each once and after its parent. A step whose parent is not there is left out. */
export function recordedNodes(samples: readonly Sample[], question: TokenIds): RecordedNode[] {
  const paths = samples
    .map((sample) => ({ sample, ids: pathOf(sample, question) }))
    .sort((a, b) => a.ids.length - b.ids.length);
  const nodes: RecordedNode[] = [];
  const places = new Map<string, number>();
  for (const { sample, ids } of paths) {
    const key = ids.join();
    const parent =
      sample.prompt.length <= question.length
        ? null
        : (places.get(sample.prompt.slice(question.length).join()) ?? -1);
    if (parent === -1 || places.has(key)) continue;
    places.set(key, nodes.length);
    nodes.push({ sample, ids, parent, reward: sample.rewards.reward ?? null });
  }
  return nodes;
}

/** The share of right answers among those below each node [nodes]; null where none has ended below it. */
export function outcomeValues(nodes: readonly RecordedNode[]): (number | null)[] {
  const [right, all] = [nodes.map(() => 0), nodes.map(() => 0)];
  for (const [i, { reward, sample }] of nodes.entries()) {
    if (reward === null || sample.of !== undefined) continue;
    for (let at: number | null = i; at !== null; at = nodes[at]!.parent) {
      right[at]! += Number(reward === 1);
      all[at]! += 1;
    }
  }
  return all.map((count, i) => (count ? right[i]! / count : null));
}

/** The nodes below which nothing was drawn. */
const leavesOf = (nodes: readonly RecordedNode[]): RecordedNode[] => {
  const parents = new Set(nodes.map(({ parent }) => parent));
  return nodes.filter((_, i) => !parents.has(i));
};

/**
 * What a value head is to say after nodes, as sequences with targets: each path from the question to a last node once, and each node in one of them. values
 * [nodes]; a node with null is left out.
 */
export function valueItems(
  question: TokenIds,
  nodes: readonly RecordedNode[],
  values: readonly (number | null)[],
): { prompt: TokenIds; ids: TokenIds; targets: number[]; weights: number[] }[] {
  const told = new Set<number>();
  return leavesOf(nodes).flatMap(({ ids }) => {
    const targets = new Array<number>(ids.length).fill(0);
    const weights = new Array<number>(ids.length).fill(0);
    for (
      let i: number | null = nodes.findIndex((node) => node.ids === ids);
      i !== null;
      i = nodes[i]!.parent
    ) {
      const value = values[i]!;
      if (value === null || told.has(i)) continue;
      told.add(i);
      targets[nodes[i]!.ids.length - 1] = value;
      weights[nodes[i]!.ids.length - 1] = 1;
    }
    return weights.includes(1) ? [{ prompt: question, ids, targets, weights }] : [];
  });
}
