/**
 * The gold audit. A reward that is declared gold-free must pay the same, teach the same and leave the same behind in a world where
 * every exact checker says the opposite of what is true: so no term of it has read one. And the lie must be seen wherever gold is
 * used, or it proves nothing.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { SEARCHER } from '../../protocols/searcher.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { RESPONDER } from '../../protocols/style-responder.ts';
import { recipes as shippedRecipes } from '../../recipes/index.ts';
import { checkedArithmetic } from '../../worlds/arithmetic/checking.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { rambledArithmetic } from '../../worlds/arithmetic/rambling.ts';
import { verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';
import { clips } from '../../worlds/canvas/clips.ts';
import { drawings } from '../../worlds/canvas/drawing.ts';
import { canvas } from '../../worlds/canvas/family.ts';
import { maps } from '../../worlds/canvas/maps.ts';
import { requests } from '../../worlds/canvas/requests.ts';
import { chains } from '../../worlds/chains/family.ts';
import { cipher } from '../../worlds/cipher/family.ts';
import { composition } from '../../worlds/composition/family.ts';
import { questions } from '../../worlds/documents/questions.ts';
import { equations } from '../../worlds/equations/family.ts';
import { programs } from '../../worlds/programs/family.ts';
import { repair } from '../../worlds/programs/repair.ts';
import { statements } from '../../worlds/programs/statements.ts';
import { rewriting } from '../../worlds/rewriting/family.ts';
import { temporalGraphs } from '../../worlds/temporal-graphs/family.ts';
import { NIGHT } from '../night.ts';
import { LATER, type Moment, momentsOf, playLearn } from './played-plan.ts';

const { world, contrary } = vi.hoisted(() => {
  const world = { lies: false, swapsPairs: false, isJudged: false };
  /** A checker whose word is turned into its opposite while the world lies. */
  const contrary =
    <Asked extends readonly unknown[], Word>(
      checker: (...asked: Asked) => Word,
      opposite: (word: Word) => Word,
    ) =>
    (...asked: Asked): Word =>
      world.lies ? opposite(checker(...asked)) : checker(...asked);
  return { world, contrary };
});

/** Exact checkers that are functions of a module. */
vi.mock('../../worlds/style/family.ts', async (actual) => {
  const style = await actual<typeof import('../../worlds/style/family.ts')>();
  return { ...style, styleScore: contrary(style.styleScore, (points) => 5 - points) };
});
vi.mock('../../worlds/arithmetic/questions.ts', async (actual) => {
  const questions = await actual<typeof import('../../worlds/arithmetic/questions.ts')>();
  const opposite = (word: string) => (word === 'sound' ? 'unsolvable' : 'sound');
  return { ...questions, soundness: contrary(questions.soundness, opposite) };
});
vi.mock('../../worlds/arithmetic/pairwise.ts', async (actual) => {
  const pairwise = await actual<typeof import('../../worlds/arithmetic/pairwise.ts')>();
  const opposite = (better: 'A' | 'B' | null) => better && (better === 'A' ? 'B' : 'A');
  return { ...pairwise, betterOf: contrary(pairwise.betterOf, opposite) };
});
vi.mock('../../worlds/knowledge/episode.ts', async (actual) => {
  const episode = await actual<typeof import('../../worlds/knowledge/episode.ts')>();
  return { ...episode, answerOf: contrary(episode.answerOf, () => 'nobody') };
});
vi.mock('../../worlds/documents/family.ts', async (actual) => {
  const documents = await actual<typeof import('../../worlds/documents/family.ts')>();
  return { ...documents, truthOf: contrary(documents.truthOf, (truth) => 1 - truth) };
});
vi.mock('../../worlds/programs/statements.ts', async (actual) => {
  const problems = await actual<typeof import('../../worlds/programs/statements.ts')>();
  return { ...problems, meantOutput: contrary(problems.meantOutput, (output) => output && [...output, 0]) };
});
vi.mock('../../worlds/temporal-graphs/family.ts', async (actual) => {
  const graphs = await actual<typeof import('../../worlds/temporal-graphs/family.ts')>();
  return { ...graphs, linksF1: contrary(graphs.linksF1, (f1) => 1 - f1) };
});
vi.mock('../../worlds/documents/sums.ts', async (actual) => {
  const sums = await actual<typeof import('../../worlds/documents/sums.ts')>();
  return { ...sums, thoughtIsExact: contrary(sums.thoughtIsExact, (right) => !right) };
});
vi.mock('../../worlds/documents/questions.ts', async (actual) => {
  const asked = await actual<typeof import('../../worlds/documents/questions.ts')>();
  return { ...asked, meaningOverlap: contrary(asked.meaningOverlap, (overlap) => 1 - overlap) };
});
/** A pair whose order is known by construction has no checker: its two responses change places. */
vi.mock('../../worlds/style/planted.ts', async (actual) => {
  const planted = await actual<typeof import('../../worlds/style/planted.ts')>();
  const damage: typeof planted.damage = (response, seed) => {
    const pair = planted.damage(response, seed);
    return pair && world.swapsPairs ? { ...pair, kept: pair.damaged, damaged: pair.kept } : pair;
  };
  return { ...planted, damage };
});
vi.mock('../../worlds/grids/play.ts', async (actual) => {
  const play = await actual<typeof import('../../worlds/grids/play.ts')>();
  const gridOutcome = contrary(play.gridOutcome, (outcome) => ({
    ...outcome,
    total: -outcome.total,
    success: !outcome.success,
  }));
  return { ...play, gridOutcome };
});
vi.mock('../../worlds/games/match.ts', async (actual) => {
  const match = await actual<typeof import('../../worlds/games/match.ts')>();
  const opposite = (returns: ReturnType<typeof match.returnsOf>) =>
    Object.fromEntries(Object.entries(returns).map(([seat, value]) => [seat, value && -value]));
  return { ...match, returnsOf: contrary(match.returnsOf, opposite) };
});

vi.mock('../../worlds/canvas/maps.ts', async (actual) => {
  const maps = await actual<typeof import('../../worlds/canvas/maps.ts')>();
  return { ...maps, rightnessOf: contrary(maps.rightnessOf, (share) => 1 - share) };
});
vi.mock('../../recipes/vision-zero/votes.ts', async (actual) => {
  const votes = await actual<typeof import('../../recipes/vision-zero/votes.ts')>();
  return { ...votes, namesSpy: contrary(votes.namesSpy, (right) => !right) };
});

vi.mock('../../worlds/canvas/stamping.ts', async (actual) => {
  const stamping = await actual<typeof import('../../worlds/canvas/stamping.ts')>();
  return { ...stamping, isReal: contrary(stamping.isReal, (real) => !real) };
});
vi.mock('../../worlds/canvas/requests.ts', async (actual) => {
  const requests = await actual<typeof import('../../worlds/canvas/requests.ts')>();
  return { ...requests, scoreOf: contrary(requests.scoreOf, (score) => 1 - score) };
});
vi.mock('../../recipes/videossr/scores.ts', async (actual) => {
  const scores = await actual<typeof import('../../recipes/videossr/scores.ts')>();
  return { ...scores, saysExactly: contrary(scores.saysExactly, (right) => !right) };
});

/** A user says in his talk what he heard, so that he lies where a talk that was held is judged, and not while it is held. */
vi.mock('../../worlds/users/scripted-user.ts', async (actual) => {
  const users = await actual<typeof import('../../worlds/users/scripted-user.ts')>();
  const userAfter: typeof users.userAfter = (user, needs, temper, reply) =>
    users.userAfter(
      user,
      world.lies && world.isJudged
        ? needs.map((need) => ({ ...need, isMet: (heard) => !need.isMet(heard) }))
        : needs,
      temper,
      reply,
    );
  return { ...users, userAfter };
});
/** The recipes, which tell when they judge. */
const recipes = shippedRecipes.map(
  (recipe): Recipe => ({
    ...recipe,
    judge: async (...asked) => {
      world.isJudged = true;
      try {
        return await recipe.judge(...asked);
      } finally {
        world.isJudged = false;
      }
    },
  }),
);

/** Checkers that are methods of a family; one that was spread from another is a copy, which has to lie for itself. */
const FAMILIES = [
  arithmetic,
  canvas,
  clips,
  requests,
  chains,
  checkedArithmetic,
  cipher,
  composition,
  drawings,
  equations,
  maps,
  programs,
  rambledArithmetic,
  repair,
  verboseArithmetic,
  rewriting,
  statements,
  temporalGraphs,
  questions,
];

function lie(): void {
  world.lies = true;
  for (const family of FAMILIES) {
    const { answerIsExact, exactJudgment } = family;
    vi.spyOn(family, 'answerIsExact').mockImplementation((...asked) => !answerIsExact.apply(family, asked));
    vi.spyOn(family, 'exactJudgment').mockImplementation((...asked) => {
      const { steps, right } = exactJudgment.apply(family, asked);
      return { steps: steps.map((step) => !step), right: !right };
    });
  }
}
afterEach(() => {
  world.lies = false;
  world.swapsPairs = false;
  vi.restoreAllMocks();
});

/** Recipes whose gold is data, responses known to be right: no checker is asked what to pay. */
const GOLD_IS_DATA = ['spin'];
/** Recipes whose gold decides what is remembered, by which later rounds pay. */
const GOLD_IS_REMEMBERED = ['rewardharness'];

/** Recipes that nothing exact is known of: what they measure takes training. */
const WITHOUT_ORACLE = ['scol'];

/** Where gold is used in an earlier phase than the last of a recipe's moments. */
const GOLD_AT: Readonly<Record<string, Moment>> = {
  'dsmath-v2': { index: 2 },
  rewardharness: { index: 1 },
  // The given tasks of its first round are so deep that no tree ends with an answer.
  alphallm: { index: 2 },
  // None of the questions of its first round has an answer on its picture.
  evolmm: { index: 3 },
};

/** Controls, which recipes share: what they pay is the same code in each. */
const CONTROLS = ['random', 'format'];

/** The gold-free rewards of a recipe: in the check its own, or one control where it has none of its own, since what it teaches beside the reward is the same with each. */
function freeRewards(recipe: Recipe) {
  const all = Object.entries(recipe.rewards).filter(([, { usesGold }]) => !usesGold);
  const own = all.filter(([name]) => !CONTROLS.includes(name));
  return NIGHT ? all : own.length > 0 ? own : all.slice(0, 1);
}

const free = recipes.flatMap((recipe) =>
  freeRewards(recipe).flatMap(([reward, { labelFree }]) =>
    momentsOf(recipe).map((moment) => ({
      recipe,
      name: recipe.name,
      reward,
      moment,
      open: labelFree ? [] : Object.keys(recipe.roles).filter((role) => recipe.roles[role]!.usesGold),
    })),
  ),
);

describe('recipes in phases', () => {
  test.each(recipes.filter(({ name }) => name in LATER))(
    '$name: the last of its moments teaches the policy that is paid',
    async (recipe) => {
      const { taught } = await playLearn(recipe, Object.keys(recipe.rewards)[0]!, momentsOf(recipe).at(-1)!);
      const role = [SOLVER, SEARCHER, RESPONDER].find((name) => name in recipe.roles);
      const plan = expect.objectContaining({ kind: 'policy', role });
      expect(taught).toContainEqual(plan);
    },
  );
});

describe('rewards that are declared gold-free', () => {
  test.each(free)('$name --reward $reward, round $moment.index', async ({ recipe, reward, moment, open }) => {
    const { known: _truth, ...honest } = await playLearn(recipe, reward, moment, open);
    lie();
    const { known: _lies, ...lied } = await playLearn(recipe, reward, moment, open);
    expect(lied).toEqual(honest);
  });
});

describe('the lie reaches the oracle of', () => {
  test.each(recipes)('$name, and what it pays or teaches where gold is used', async (recipe) => {
    const [names, infos] = [Object.keys(recipe.rewards), Object.values(recipe.rewards)];
    const gold = names[infos.findIndex(({ usesGold }) => usesGold)];
    const moment = GOLD_AT[recipe.name] ?? momentsOf(recipe).at(-1)!;
    const honest = await playLearn(recipe, gold ?? names[0]!, moment);
    lie();
    world.swapsPairs = true;
    const lied = await playLearn(recipe, gold ?? names[0]!, moment);
    if (GOLD_IS_REMEMBERED.includes(recipe.name)) expect(lied.remembered).not.toEqual(honest.remembered);
    else if (gold && !GOLD_IS_DATA.includes(recipe.name))
      expect([lied.paid, lied.taught]).not.toEqual([honest.paid, honest.taught]);
    else if (WITHOUT_ORACLE.includes(recipe.name))
      expect(honest.known.flatMap(({ answersExact }) => answersExact.filter((one) => one !== null))).toEqual(
        [],
      );
    else expect(lied.known).not.toEqual(honest.known);
  });
});
