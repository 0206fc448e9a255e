/** What an order may ask for, by webhook or by command line, and the run that it stands for. Both are parsed here, so that they agree. */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { ENGINES, kernelEngineOf, SMALLER_WEIGHTS } from '../core/policy/policy.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { Registry } from '../core/recipe/registry.ts';
import { policyNameOf } from '../core/runs/policy-name.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import {
  LARGEST_GROUP,
  MOST_AHEAD,
  MOST_ROUNDS,
  MOST_TASKS,
  type RoleBinding,
  type RoundSpec,
  type RunSettings,
  roundIdOf,
  runIdOf,
  runSettings,
} from '../core/schema/round.ts';
import { name } from '../core/schema/sample.ts';
import { canonicalJson } from '../core/text/canonical-json.ts';
import { nearest } from '../core/text/nearest.ts';
import { expectSpeaks } from '../worlds/starts.ts';

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

/** The fields of an order. */
export const runOrder = v.strictObject({
  recipe: name,
  seed: v.optional(whole(0, Number.MAX_SAFE_INTEGER), 0),
  rounds: v.optional(whole(1, MOST_ROUNDS), 1),
  policy: v.optional(name),
  rewardFunction: v.optional(v.pipe(v.string(), v.maxLength(64))),
  freeze: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(8)), []),
  variant: v.optional(v.pipe(v.string(), v.maxLength(64))),
  weights: v.optional(v.picklist(SMALLER_WEIGHTS)),
  engine: v.optional(v.picklist(ENGINES)),
  ahead: v.optional(whole(0, MOST_AHEAD)),
  tasks: v.optional(whole(1, MOST_TASKS)),
  groupSize: v.optional(whole(2, LARGEST_GROUP)),
});
export type RunOrder = v.InferOutput<typeof runOrder>;

export interface OrderedRun {
  readonly recipe: Recipe;
  readonly settings: RunSettings;
  readonly rounds: number;
  /** A run in one process ends with the round in which it has sampled so many tokens, if that comes first; absent = with its last. */
  readonly tokens?: number;
  /** The order names its policy, which therefore has to exist. */
  readonly named: boolean;
}

/** Throws `wrong-input` where the recipe, the reward, the variant or a role is unknown. */
export function runOf(recipes: Registry, asked: RunOrder): OrderedRun {
  const recipe = recipes.find(asked.recipe);
  if (asked.policy === undefined) expectSpeaks(recipe);
  const rewardFunction = asked.rewardFunction ?? Object.keys(recipe.rewards)[0]!;
  expectOneOf('reward', rewardFunction, Object.keys(recipe.rewards), recipe.name);
  if (asked.variant !== undefined)
    expectOneOf('variant', asked.variant, Object.keys(recipe.variants ?? {}), recipe.name);
  const engine = kernelEngineOf(asked.engine);
  if (engine !== undefined && asked.weights === 'int4')
    throw wrongInput('run.weights', `The engine ${engine} does not hold int4 weights.`, {
      expected: 'float32, int8 or w8a8 with the kernels',
      next: 'Ask for int8, or for the engine onnx.',
    });
  const freeze = [...new Set(asked.freeze)].sort();
  for (const role of freeze) expectOneOf('freeze', role, recipe.freezable ?? [], recipe.name);
  const settings = v.parse(runSettings, {
    recipe: recipe.name,
    seed: asked.seed,
    policy: asked.policy ?? policyNameOf({ ...asked, freeze, engine }, recipe),
    rewardFunction,
    freeze,
    ...(asked.variant === undefined ? {} : { variant: asked.variant }),
    ...(asked.weights === undefined ? {} : { weights: asked.weights }),
    ...(engine === undefined ? {} : { engine }),
    ...(asked.ahead ? { ahead: asked.ahead } : {}),
    tasks: asked.tasks ?? recipe.tasks,
    groupSize: asked.groupSize ?? recipe.groupSize,
  });
  return { recipe, settings, rounds: asked.rounds, named: asked.policy !== undefined };
}

/**
 * Checks that a round is the one that its id stands for: the run's id is derived from the settings, the round's id from the run's, and the roles'
 * versions are compared with those that the settings require. Says what does not fit; null if all does.
 */
export function wrongRound(recipes: Registry, { id, run, index, settings, roles }: RoundSpec): string | null {
  if (run !== runIdOf(settings) || id !== roundIdOf(run, index))
    return `The settings of round ${id} are not those from which its id was made.`;
  // A recipe that is unknown here is for the caller to report, and says nothing about the round.
  recipes.find(settings.recipe);
  let ordered: RunSettings;
  try {
    ordered = runOf(recipes, { ...settings, rounds: 1 }).settings;
  } catch (error) {
    return `The settings of round ${id} were never ordered: ${error instanceof Error ? error.message : error}`;
  }
  if (canonicalJson(ordered) !== canonicalJson(settings))
    return `The settings of round ${id} were never ordered in this form.`;
  const bindings = bindingsOf(recipes.find(settings.recipe), settings);
  const wrong = Object.entries(roles).find(([role, ref]) => {
    const fixed = bindings[role]?.fixed;
    return (
      ref.name !== (fixed?.name ?? settings.policy) ||
      ref.weights !== settings.weights ||
      (fixed !== undefined && ref.version !== fixed.version) ||
      (settings.freeze.includes(role) && ref.version !== 0)
    );
  });
  return wrong
    ? `The ${wrong[0]} of round ${id} plays ${wrong[1].name}@${wrong[1].version}, against the settings.`
    : null;
}

function expectOneOf(what: string, value: string, known: readonly string[], recipe: string): void {
  if (known.includes(value)) return;
  const meant = nearest(value, known);
  const others = known.filter((name) => name !== meant).join(', ');
  const all = meant === undefined ? `one of ${others}` : `${meant}, perhaps, or another of ${others}`;
  // A recipe that is made from files or settings is told by the name that it was asked for by.
  const shown = recipe.replace(/-[0-9a-f]{10}$/, '');
  throw wrongInput(`run.${what}`, `Recipe ${recipe} has no --${what} ${JSON.stringify(value)}.`, {
    expected: known.length ? all : 'none: this recipe takes none',
    next: `Run \`npx rollmesh recipe show ${shown}\`.`,
  });
}

/** The weights that each role of a run uses: its parameter set, and the versions that the recipe binds it to. */
export function bindingsOf(recipe: Recipe, settings: RunSettings): Record<string, RoleBinding> {
  const bound = recipe.bindings?.(settings) ?? {};
  return Object.fromEntries(
    Object.entries(recipe.roles).map(([role, { set }]) => [
      role,
      { ...(set === undefined || set === MAIN_SET ? {} : { set }), ...bound[role] },
    ]),
  );
}
