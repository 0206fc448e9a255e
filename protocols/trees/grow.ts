/**
 * Trees of steps: from a question, or from any state in which a policy writes, steps are drawn and drawn again where that looks worth most, until a budget
 * of tokens is spent (Monte-Carlo tree search). A turn of the search goes down from the root by a selection rule, draws steps below the node where it
 * arrives, estimates what they are worth, and backs the estimates up. All trees grow side by side, so that their draws share batches.
 *
 * A draw is keyed by its path: by the draw that first came to its parent, and by its number among the parent's draws. So a tree depends on its root's id, the
 * policy and the estimates alone, and whoever has its draws and estimates grows the same one again. Draws of the same tokens are one node.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Completion, TokenIds } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { type Branching, backUp, drawsFor, nextDraw, type Selection } from '../../core/rl/tree-search.ts';

/** Where a node stands: steps may follow, the answer or episode has ended, or it was cut off and leads nowhere. */
export type Standing = 'open' | 'ended' | 'lost';

export interface Node<World = unknown> {
  /** The id of the draw that first came to it; of the root, the tree's. */
  readonly id: string;
  readonly parent: Node<World> | null;
  readonly children: Node<World>[];
  /** Steps from the root. */
  readonly depth: number;
  /** All tokens after the root's prompt, what was read between steps included. */
  readonly ids: TokenIds;
  readonly world: World;
  readonly standing: Standing;
  /** How many draws came to it. */
  drawn: number;
  /** How many draws were made below it. */
  draws: number;
  /** What it was found to be worth when it was drawn; null = that cannot be said of it. */
  estimate: number | null;
  /** The estimate, or what was backed up from its children. */
  value: number;
  /** Draws that came to it or were made below it. */
  visits: number;
  /** The last draws below it came to nothing new. */
  spent: boolean;
}

/** A sample of the record. */
export interface Draw<World = unknown> {
  readonly node: Node<World>;
  readonly id: string;
  readonly prompt: TokenIds;
  readonly completion: Completion;
}

export interface Tree<World = unknown> {
  readonly root: Node<World>;
  readonly prompt: TokenIds;
  /** In the order in which they were made, those of rollouts among them. */
  readonly draws: readonly Draw<World>[];
  /** Tokens that were drawn. */
  readonly tokens: number;
}

/** What a tree grows from. */
export interface Root<World> {
  readonly id: string;
  readonly prompt: TokenIds;
  readonly world: World;
}

/** What trees are over: the text of an answer, or the turns of an episode. */
export interface Ground<World> {
  /** The most tokens that a step after this may have; below 1 = none fits. */
  readonly room: (at: Pick<Node<World>, 'ids' | 'depth' | 'world'>, tree: Root<World>) => number;
  /** What a step leads to. `reads`: the tokens that come before the next one; `ids`: all since the root, this step included. */
  readonly after: (
    world: World,
    step: Completion,
    ids: TokenIds,
    tree: Root<World>,
  ) => { readonly world: World; readonly reads: TokenIds; readonly standing: Standing };
}

/** A node whose worth is asked for. */
export type Asked<World> = Pick<Node<World>, 'id' | 'ids' | 'depth' | 'world' | 'standing'> & {
  readonly tree: Root<World>;
};

/** What nodes are worth, in the order given; null where that cannot be said of them, as where a judge reads whole answers alone. */
export type Estimate<World> = (nodes: readonly Asked<World>[]) => Promise<readonly (number | null)[]>;

/** Draws completions of prompts, [prompts][samples]. */
export type DrawSteps = (
  prompts: readonly { readonly ids: TokenIds; readonly sampleIds: readonly string[] }[],
  settings: { readonly maxNew: number; readonly temperature?: number },
) => Promise<readonly (readonly Completion[])[]>;

export interface Growth<World> {
  readonly ground: Ground<World>;
  readonly draw: DrawSteps;
  /** Keys the draws, beside their paths. */
  readonly role: string;
  readonly select: Selection;
  readonly branching: Branching;
  readonly estimate: Estimate<World>;
  /** What a node is worth that nothing is known of, and what one is worth that was cut off. */
  readonly unknown: number;
  readonly worst: number;
  /**
   * Of each draw's nodes the best open one is gone on with greedily, so many steps or to its end, and with the best estimate b on that way its own estimate e
   * becomes (1 − weight)·e + weight·b. Absent = none.
   */
  readonly rollOut?: { readonly steps: number; readonly weight: number };
  /** Tokens that a tree may draw; no draw begins when they are spent. */
  readonly budget: number;
}

interface Growing<World> extends Tree<World> {
  readonly root: Node<World>;
  readonly from: Root<World>;
  readonly draws: Draw<World>[];
  tokens: number;
  stuck: boolean;
}

/** Draws that are to be made below a node. */
interface Wanted<World> {
  readonly tree: Growing<World>;
  readonly node: Node<World>;
  readonly count: number;
}

/** Throws `trees.budget` without a budget, and `trees.estimate` for an estimate that is not a number. */
export async function growTrees<World>(
  roots: readonly Root<World>[],
  growth: Growth<World>,
): Promise<Tree<World>[]> {
  expectBudget(growth.budget);
  const trees = roots.map((from) => planted(from, growth));
  for (;;) {
    const wanted = trees.flatMap((tree) =>
      tree.tokens < growth.budget && !tree.stuck ? [nextDraws(tree, growth)] : [],
    );
    if (!wanted.length) return trees;
    const foundW = await drawBelow(wanted, growth);
    if (growth.rollOut) await rollOut(wanted, foundW, growth, growth.rollOut);
    for (const [w, { node }] of wanted.entries()) {
      node.spent = foundW[w]!.length === 0;
      backUpFrom(node);
    }
  }
}

function expectBudget(budget: number): void {
  if (budget >= 1 && Number.isFinite(budget)) return;
  throw wrongInput('trees.budget', `A tree was to grow with a budget of ${budget} tokens.`, {
    expected: 'a number of tokens, at least 1: a tree without a budget never ends',
  });
}

const planted = <World>(from: Root<World>, { unknown }: Growth<World>): Growing<World> => ({
  from,
  prompt: from.prompt,
  draws: [],
  tokens: 0,
  stuck: false,
  root: {
    ...{ id: from.id, parent: null, children: [], depth: 0, ids: [], world: from.world, standing: 'open' },
    ...{ drawn: 1, draws: 0, estimate: null, value: unknown, visits: 1, spent: false },
  },
});

/** Nothing new came of the last draws below it, nor of those below any step after it. */
const isSpent = (node: Node): boolean =>
  node.spent && node.children.every((child) => child.standing !== 'open' || isSpent(child));

/**
 * Goes down to a node that may have more draws, past those that are spent until all are. A node is drawn below once more where that promises more than the
 * steps that are there, or where none of them can be gone on with.
 */
function nextDraws<World>(tree: Growing<World>, { branching, select }: Growth<World>): Wanted<World> {
  let node = tree.root;
  if (isSpent(node)) for (const one of [node, ...tree.draws.map((draw) => draw.node)]) one.spent = false;
  for (;;) {
    const allowed = drawsFor(branching, node.estimate ?? node.value, node.children);
    if (node.draws < allowed) return { tree, node, count: allowed - node.draws };
    let [best, most] = [null as Node<World> | null, Number.NEGATIVE_INFINITY];
    for (const child of node.children) {
      if (child.standing !== 'open' || isSpent(child)) continue;
      const { value, visits, drawn } = child;
      const score = select({ value, visits, prior: drawn / node.draws }, node.visits);
      if (score > most) [best, most] = [child, score];
    }
    const more = nextDraw(
      node.estimate ?? node.value,
      node.children.map(({ drawn, estimate, value }) => ({ drawn, value: estimate ?? value })),
    );
    const isPromising = more.prior > 0 && !node.spent && select(more, node.visits) > most;
    if (!best || isPromising) return { tree, node, count: branching.least };
    node = best;
  }
}

/** Draws steps below nodes, and estimates those that are new [wanted][nodes]. `greedily`: one step each, which is none of the node's own draws. */
async function drawBelow<World>(
  wanted: readonly Wanted<World>[],
  growth: Growth<World>,
  greedily = false,
): Promise<Node<World>[][]> {
  const foundW: Node<World>[][] = wanted.map(() => []);
  const rooms = wanted.map(({ tree, node }) => growth.ground.room(node, tree.from));
  // A call has one bound on new tokens.
  for (const maxNew of new Set(rooms)) {
    const some = wanted.flatMap((one, w) => (rooms[w] === maxNew ? [{ ...one, w }] : []));
    if (!(maxNew >= 1)) {
      for (const { tree } of some) tree.stuck = true;
      continue;
    }
    const prompts = some.map(({ tree, node, count }) => ({
      ids: [...tree.prompt, ...node.ids],
      sampleIds: greedily
        ? [deriveId(node.id, growth.role, 'greedy')]
        : Array.from({ length: count }, (_, i) => deriveId(node.id, growth.role, node.draws + i)),
    }));
    const made = await growth.draw(prompts, { maxNew, ...(greedily ? { temperature: 0 } : {}) });
    for (const [s, { tree, node, w }] of some.entries()) {
      const { ids: prompt, sampleIds } = prompts[s]!;
      for (const [i, completion] of made[s]!.entries()) {
        const { child, isNew } = childBy(tree, node, sampleIds[i]!, completion, growth, greedily);
        tree.draws.push({ node: child, id: sampleIds[i]!, prompt, completion });
        tree.tokens += completion.ids.length;
        if (isNew) foundW[w]!.push(child);
      }
      if (!greedily) node.draws += sampleIds.length;
      // Whatever writes nothing would be asked for ever.
      tree.stuck ||= made[s]!.every(({ ids }) => ids.length === 0);
    }
  }
  await estimateNodes(
    wanted.map(({ tree }) => tree),
    foundW,
    growth,
  );
  return foundW;
}

const sameIds = (a: TokenIds, b: TokenIds): boolean =>
  a.length === b.length && a.every((id, t) => id === b[t]);

/** The node that a draw came to: one that is there, or a new one. A greedy step is no child of its node. */
function childBy<World>(
  tree: Growing<World>,
  parent: Node<World>,
  id: string,
  completion: Completion,
  { ground, unknown }: Growth<World>,
  greedily: boolean,
): { readonly child: Node<World>; readonly isNew: boolean } {
  const step = [...parent.ids, ...completion.ids];
  const { world, reads, standing } = ground.after(parent.world, completion, step, tree.from);
  const ids = [...step, ...reads];
  const known = parent.children.find((child) => sameIds(child.ids, ids));
  if (known) {
    if (!greedily) {
      known.drawn++;
      known.visits++;
    }
    return { child: known, isNew: false };
  }
  const isLost = standing === 'open' && ground.room({ ids, depth: parent.depth + 1, world }, tree.from) < 1;
  const child: Node<World> = {
    ...{ id, parent, children: [], depth: parent.depth + 1, ids, world },
    standing: isLost ? 'lost' : standing,
    ...{ drawn: 1, draws: 0, estimate: null, value: unknown, visits: 1, spent: false },
  };
  if (!greedily) parent.children.push(child);
  return { child, isNew: true };
}

async function estimateNodes<World>(
  trees: readonly Growing<World>[],
  nodesT: readonly (readonly Node<World>[])[],
  { estimate, unknown, worst }: Growth<World>,
): Promise<void> {
  const asked = nodesT.flatMap((nodes, t) =>
    nodes.flatMap((node) => (node.standing === 'lost' ? [] : [{ node, tree: trees[t]!.from }])),
  );
  const estimates = asked.length ? await estimate(asked.map(({ node, tree }) => ({ ...node, tree }))) : [];
  for (const [i, { node }] of asked.entries()) {
    const found = estimates[i]!;
    if (found !== null && !Number.isFinite(found))
      throw wrongInput('trees.estimate', `A node of a tree was estimated to be worth ${found}.`, {
        expected: 'a finite number',
        next: 'Take another version of whatever estimates: a value head, a reward model or a judge.',
      });
    node.estimate = found;
    node.value = found ?? unknown;
  }
  for (const node of nodesT.flat())
    if (node.standing === 'lost') [node.estimate, node.value] = [worst, worst];
}

async function rollOut<World>(
  wanted: readonly Wanted<World>[],
  foundW: readonly (readonly Node<World>[])[],
  growth: Growth<World>,
  { steps, weight }: NonNullable<Growth<World>['rollOut']>,
): Promise<void> {
  const ways = foundW.flatMap((found, w) => {
    if (wanted[w]!.tree.tokens >= growth.budget) return [];
    const open = found.filter(({ standing }) => standing === 'open');
    const best = open.find(({ value }) => value === Math.max(...open.map((one) => one.value)));
    return best ? [{ tree: wanted[w]!.tree, best, at: best, estimates: [] as number[] }] : [];
  });
  let going = ways;
  for (let step = 0; step < steps && going.length; step++) {
    const foundG = await drawBelow(
      going.map(({ tree, at: node }) => ({ tree, node, count: 1 })),
      growth,
      true,
    );
    going = going.filter((way, g) => {
      const { node } = way.tree.draws.findLast(({ node: { parent } }) => parent === way.at) ?? {};
      const next = foundG[g]![0] ?? node;
      if (!next) return false;
      if (next.estimate !== null) way.estimates.push(next.estimate);
      way.at = next;
      return next.standing === 'open' && way.tree.tokens < growth.budget;
    });
  }
  for (const { best, estimates } of ways) {
    if (!estimates.length) continue;
    const found = Math.max(...estimates);
    best.estimate = best.estimate === null ? found : (1 - weight) * best.estimate + weight * found;
    best.value = best.estimate;
  }
}

function backUpFrom<World>(from: Node<World>): void {
  for (let node: Node<World> | null = from; node; node = node.parent) {
    if (!node.children.length) continue;
    node.value = backUp(node.estimate, node.children);
    node.visits = node.drawn + node.children.reduce((sum, { visits }) => sum + visits, 0);
  }
}

/** The answers that a tree ended with, each once, in the order in which they were drawn. */
export function answersOf<World>({ draws }: Pick<Tree<World>, 'draws'>): Node<World>[] {
  const found: Node<World>[] = [];
  for (const { node } of draws)
    if (node.standing === 'ended' && !found.some(({ ids }) => sameIds(ids, node.ids))) found.push(node);
  return found;
}

/** The answer that was estimated highest, the first of equal ones; null where none has ended. */
export function bestAnswer<World>(tree: Pick<Tree<World>, 'draws'>): Node<World> | null {
  let best: Node<World> | null = null;
  for (const node of answersOf(tree)) if (!best || node.value > best.value) best = node;
  return best;
}
