/**
 * Versions evaluated as a recipe evaluates its runs, and versions of any runs that meet each other in a recipe's games: each pair plays the same held-out
 * deals from every side.
 */
import { wrongInput } from '../../core/errors.ts';
import type { MatchedGames, SeatedGame, Side } from '../../core/game/seated-game.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import {
  openEvaluationContext,
  openRoundContext,
  type RoundContext,
  type RoundContextParts,
} from '../../core/recipe/round-context.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { TEXT_FILES, textOf } from '../../core/renderer/policy-text.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Changes, Evaluation } from '../../core/schema/evaluation.ts';
import { roundOf } from '../../core/schema/round.ts';
import { changesOf } from '../../core/statistics/change.ts';
import { clusteredInterval } from '../../core/statistics/intervals.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { filesOf, OpenPolicies } from '../../infer/open-policies.ts';
import { examDeals, playDeals } from '../../protocols/evaluate/games.ts';
import {
  type RecipeSolveSettings,
  type RecipeWay,
  solveByRecipe,
} from '../../protocols/solve/solve-by-recipe.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { returnsOf } from '../../worlds/games/match.ts';
import { fetchVersion } from './stored-version.ts';

/** A stage of a recipe in which one version plays every role. */
async function partsOf(
  gateway: GatewayClient,
  recipe: Recipe,
  ref: PolicyRef,
  policies: OpenPolicies,
): Promise<RoundContextParts<Recipe>> {
  const { files } = await fetchVersion(gateway, ref, [...TEXT_FILES]);
  const engine = ref.engine ? { engine: ref.engine } : {};
  const { settings } = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: ref.name,
    ...engine,
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, ref.version);
  return {
    recipe,
    round: {
      ...round,
      roles: Object.fromEntries(
        Object.entries(round.roles).map(([role, { set }]) => [role, { ...ref, ...(set ? { set } : {}) }]),
      ),
    },
    ...textOf(files, ref.name),
    recipeState: () => Promise.resolve(undefined),
    use: policies.use,
  };
}

async function withPolicies<T>(
  gateway: GatewayClient,
  work: (policies: OpenPolicies) => Promise<T>,
): Promise<T> {
  const policies = new OpenPolicies(nodeEngines, (ref) => gateway.getVersion(ref, filesOf(ref)));
  try {
    return await work(policies);
  } finally {
    await policies.dispose();
  }
}

export interface RecipeEvaluation extends Evaluation {
  /** The version that is compared with, and what changed since. */
  readonly compared?: {
    readonly version: number;
    readonly evaluation: Evaluation;
    readonly changes: Changes;
  };
}

/** A version on the held-out tasks or episodes of a recipe, as its runs are evaluated. */
export const evaluateByRecipe = (
  gateway: GatewayClient,
  recipe: Recipe,
  ref: PolicyRef,
  compare?: number,
): Promise<RecipeEvaluation> =>
  withPolicies(gateway, async (policies) => {
    const parts = await partsOf(gateway, recipe, ref, policies);
    const kept = new Map<string, Promise<unknown>>();
    const at = (version: number) => recipe.evaluate(openEvaluationContext(parts, version, kept));
    const evaluation = await at(ref.version);
    if (compare === undefined) return evaluation;
    const before = await at(compare);
    return {
      ...evaluation,
      compared: { version: compare, evaluation: before, changes: changesOf(before, evaluation) },
    };
  });

/** What sampling alone buys on the held-out tasks of a recipe, of which the first `limit` of each family are asked. */
export const solveHeldOut = (
  gateway: GatewayClient,
  recipe: Recipe,
  ref: PolicyRef,
  { limit, ...settings }: RecipeSolveSettings & { readonly limit?: number | undefined },
): Promise<RecipeWay[]> =>
  withPolicies(gateway, async (policies) => {
    const evaluationTasks = { ...HELD_OUT, ...(limit === undefined ? {} : { most: limit }) };
    const parts = { ...(await partsOf(gateway, recipe, ref, policies)), evaluationTasks };
    const kept = new Map<string, Promise<unknown>>();
    return solveByRecipe(recipe, () => openEvaluationContext(parts, ref.version, kept), settings);
  });

export interface LeagueRow {
  readonly game: string;
  /** `NAME@VERSION` of who holds a side, and of who holds the other seats. */
  readonly player: string;
  readonly against: string;
  /** Mean score, 0 to 1, with its 95 % interval over deals: the sides of one deal are not independent. */
  readonly score: number;
  readonly interval: readonly [low: number, high: number];
  readonly return: number;
  /** Episodes that ended, and those that did not. */
  readonly n: number;
  readonly unended: number;
}

/** In a league every seat is a side of its own, also of games that are played together: so versions are partners of each other. */
const everySeat = ({ seats }: SeatedGame): readonly Side[] => seats.map((seat) => ({ holds: [seat] }));

/** Every version against every other, and with itself, on the same held-out deals of every game. */
export const playLeague = (
  gateway: GatewayClient,
  recipe: Recipe,
  refs: readonly PolicyRef[],
  deals: number,
): Promise<LeagueRow[]> =>
  withPolicies(gateway, async (policies) => {
    const { games, sides = everySeat } = matchesOf(recipe);
    const contexts: RoundContext[] = [];
    for (const ref of refs) contexts.push(openRoundContext(await partsOf(gateway, recipe, ref, policies)));
    const rows: LeagueRow[] = [];
    for (const game of games)
      for (const [a, own] of contexts.entries())
        for (const [b, others] of contexts.entries()) {
          const tasks = examDeals(game, true, deals);
          const played = await playDeals(game, tasks, { own, others }, sides);
          const perDeal = played.length / tasks.length;
          const ended = played.filter(({ score }) => score !== null);
          const scores = tasks.flatMap((_, d) => {
            const own = played.slice(d * perDeal, (d + 1) * perDeal).flatMap(({ score }) => score ?? []);
            return own.length ? [mean(own)] : [];
          });
          const { low, high } = scores.length ? clusteredInterval(scores) : { low: 0, high: 1 };
          rows.push({
            game: game.name,
            player: called(refs[a]!),
            against: called(refs[b]!),
            score: mean(scores),
            interval: [low, high],
            return: mean(ended.map(({ match, team }) => mean(team.map((seat) => returnsOf(match)[seat]!)))),
            n: ended.length,
            unended: played.length - ended.length,
          });
        }
    return rows;
  });

const called = ({ name, version }: PolicyRef): string => `${name}@${version}`;

function matchesOf({ name, matches }: Recipe): MatchedGames {
  if (matches) return matches;
  throw wrongInput('league.recipe', `Recipe ${name} has no games in which versions could meet.`, {
    expected: 'a recipe over games of several seats, such as spiral',
    next: 'Name one with --recipe, and a game of your own with --world.',
  });
}
