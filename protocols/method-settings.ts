/**
 * What `--set` may change of any recipe's method, as data: objective, estimator, aggregation, KL penalty, entropy bonus, passes, optimiser
 * and adapters. The changed recipe has a name of its own, made from the recipe's and the settings, so that another setting is another run.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import type {
  Compared,
  OptimizerSettings,
  PolicyItem,
  PolicyPart,
  RoundRecords,
  SetSettings,
  TrainingPlan,
  Update,
} from '../core/plan/training-plan.ts';
import { deriveId } from '../core/random.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { Aggregation } from '../core/rl/aggregation.ts';
import { CONVENTIONS, type ConventionName } from '../core/rl/conventions.ts';
import {
  groupCentredBatchScaled,
  grpo,
  leaveOneOut,
  maxRl,
  meanCentred,
  raw,
  reinforcePlusPlus,
  rloo,
  whitenBatch,
} from '../core/rl/estimators/index.ts';
import type { PolicyObjectiveSpec } from '../core/rl/objective.ts';
import { canonicalJson } from '../core/text/canonical-json.ts';

/** Every objective with the options that it takes and their defaults; null = off. */
const OBJECTIVES = {
  'ppo-clip': { clipLow: 0.2, clipHigh: 0.2, dualClip: null },
  gspo: { clipLow: 3e-4, clipHigh: 4e-4, dualClip: null },
  gmpo: { clipLow: 0.4, clipHigh: 0.4 },
  cispo: { clipLow: 1, clipHigh: 4 },
  aipo: { maxRatio: 2 },
  sapo: { tauPositive: 1, tauNegative: 1.05 },
  'dppo-tv': { delta: 0.2, squareWeight: 1e-3 },
  'decoupled-ppo': { clipLow: 0.2, clipHigh: 0.2, dualClip: null, cap: 5 },
  reinforce: {},
} as const satisfies Record<Exclude<PolicyObjectiveSpec['kind'], 'module'>, Record<string, number | null>>;

/** Every estimator that needs only one reward for each rollout: rewards [n] -> advantages [n], one for each rollout or one for each token. */
const ESTIMATORS = {
  grpo: ({ rewards, groups }, convention) => grpo(rewards, groups, CONVENTIONS[convention]),
  'mean-centred': ({ rewards, groups }) => meanCentred(rewards, groups),
  rloo: ({ rewards, groups }) => rloo(rewards, groups),
  'leave-one-out': ({ rewards, groups }) =>
    leaveOneOut(rewards, groups, { leaveOneOut: true, scale: 'group' }),
  'batch-scaled': ({ rewards, groups }) => groupCentredBatchScaled(rewards, groups),
  'whiten-batch': ({ rewards }) => whitenBatch(rewards),
  maxrl: ({ rewards, groups }) => maxRl(rewards, groups),
  raw: ({ rewards }) => raw(rewards),
  'reinforce-plus-plus': ({ rewards, lengths }) =>
    reinforcePlusPlus(rewards.map((reward, i) => ({ reward, mask: new Array<number>(lengths[i]!).fill(1) }))),
} satisfies Record<
  string,
  (of: Compared, convention: ConventionName) => readonly (PolicyItem['advantage'] | null)[]
>;

const AGGREGATIONS = [
  'token-mean',
  'seq-mean-token-mean',
  'seq-mean-token-sum',
  'token-sum',
  'seq-sum-constant',
  'prompt-mean',
] as const satisfies readonly Aggregation['mode'][];

const names = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];
const number = v.pipe(v.number(), v.finite());
const positive = v.pipe(number, v.minValue(Number.MIN_VALUE));
const notNegative = v.pipe(number, v.minValue(0));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** The schedule of the learning rate after its warm-up, and how moments and weights are kept. */
export const optimizerEntries = {
  schedule: v.exactOptional(v.picklist(['constant', 'linear', 'cosine'])),
  /** Optimiser steps of the whole run, over which a schedule decays. */
  totalSteps: v.exactOptional(count),
  /** The smallest factor on the learning rate, at the end of the schedule. */
  floor: v.exactOptional(v.pipe(notNegative, v.maxValue(1))),
  /** Keeps the moments in 8 bits from round to round. */
  moments: v.exactOptional(v.literal('int8')),
  /** Publishes the weights, by deltas where few of them change, or the adapter in bfloat16; training goes on in float32. */
  publish: v.exactOptional(v.literal('bf16')),
};

export const adapterSettings = v.strictObject({ rank: count, alpha: v.optional(positive, 16) });

/** The settings of the loss, which every recipe over policy gradients takes. */
export const lossEntries = {
  objective: v.exactOptional(
    v.strictObject({
      kind: v.exactOptional(v.picklist(names(OBJECTIVES))),
      clipLow: v.exactOptional(notNegative),
      clipHigh: v.exactOptional(notNegative),
      dualClip: v.exactOptional(v.pipe(number, v.minValue(1))),
      maxRatio: v.exactOptional(positive),
      tauPositive: v.exactOptional(positive),
      tauNegative: v.exactOptional(positive),
      delta: v.exactOptional(positive),
      squareWeight: v.exactOptional(notNegative),
      cap: v.exactOptional(positive),
    }),
  ),
  estimator: v.exactOptional(v.picklist(names(ESTIMATORS))),
  /** The framework whose deviation and epsilon the estimator `grpo` has; default verl. */
  convention: v.exactOptional(v.picklist(names(CONVENTIONS))),
  aggregation: v.exactOptional(v.picklist(AGGREGATIONS)),
  kl: v.exactOptional(
    v.strictObject({
      weight: v.exactOptional(notNegative),
      estimator: v.exactOptional(v.picklist(['k1', 'k2', 'k3', 'abs'])),
    }),
  ),
  /** Weight of the entropy bonus. */
  entropy: v.exactOptional(number),
};
const lossSettings = v.strictObject(lossEntries);
type LossSettings = v.InferOutput<typeof lossSettings>;

/** What `--set` takes for a recipe without settings of its own. */
export const methodSettings = v.strictObject({
  ...lossEntries,
  /** Passes over a round's batch. */
  epochs: v.exactOptional(count),
  optimizer: v.exactOptional(
    v.strictObject({
      learningRate: v.exactOptional(positive),
      warmup: v.exactOptional(whole),
      ...optimizerEntries,
      weightDecay: v.exactOptional(notNegative),
      clipNorm: v.exactOptional(positive),
      minibatches: v.exactOptional(count),
    }),
  ),
  adapter: v.exactOptional(adapterSettings),
});
export type MethodSettings = v.InferOutput<typeof methodSettings>;

/** The objective with its defaults; undefined where the settings name none. Throws `settings.value` for an option of another objective. */
function objectiveOf({ objective }: LossSettings): PolicyObjectiveSpec | undefined {
  if (objective === undefined) return undefined;
  const { kind, ...options } = objective;
  const [first] = Object.keys(options);
  if (kind === undefined)
    throw wrongInput('settings.value', `objective.${first} is set, and objective.kind is not.`, {
      expected: `objective.kind, one of ${names(OBJECTIVES).join(', ')}`,
    });
  const known: Readonly<Record<string, number | null>> = OBJECTIVES[kind];
  const foreign = Object.keys(options).find((option) => !(option in known));
  if (foreign !== undefined)
    throw wrongInput('settings.value', `The objective ${kind} has no option ${foreign}.`, {
      expected: Object.keys(known).length ? `one of ${Object.keys(known).join(', ')}` : 'none',
    });
  const defaults = Object.entries(known).filter(([, value]) => value !== null);
  // The table holds every option that the objective of this kind must have.
  return { kind, ...Object.fromEntries(defaults), ...options } as PolicyObjectiveSpec;
}

/** Throws `settings.value` where a schedule decays over no number of steps, or its warm-up is not within them. */
export function expectSchedule({
  schedule = 'constant',
  totalSteps,
  floor,
  warmup = 0,
}: Partial<OptimizerSettings>): void {
  if (schedule === 'constant') {
    if (totalSteps === undefined && floor === undefined) return;
    throw wrongInput('settings.value', 'A constant schedule has neither totalSteps nor floor.', {
      expected: 'optimizer.schedule=linear or cosine beside them',
    });
  }
  if (totalSteps !== undefined && totalSteps > warmup) return;
  throw wrongInput(
    'settings.value',
    `The schedule ${schedule} has ${totalSteps === undefined ? 'no optimizer.totalSteps' : `${totalSteps} steps, of which ${warmup} are warm-up`}.`,
    { expected: 'more optimiser steps than the warm-up has: rounds × minibatches × passes over a batch' },
  );
}

/** Throws `settings.value` for settings that do not fit together. */
export function expectMethod(settings: LossSettings): void {
  objectiveOf(settings);
  const { convention, estimator, kl } = settings;
  if (convention !== undefined && estimator !== 'grpo')
    throw wrongInput('settings.value', `The convention ${convention} is set without the estimator grpo.`, {
      expected: 'estimator=grpo beside it: the other estimators have no conventions',
    });
  if (kl && kl.weight === undefined)
    throw wrongInput('settings.value', 'kl.estimator is set, and kl.weight is not.', {
      expected: 'the weight of the penalty, such as kl.weight=0.01',
    });
}

/** The group of every sample, by the sample's id. */
const groupsOf = ({ groups }: Pick<RoundRecords, 'groups'>): ReadonlyMap<string, string> =>
  new Map(
    groups.flatMap(({ group, samples, judgments }) =>
      [...samples, ...judgments].map(({ id }) => [id, group] as const),
    ),
  );

/**
 * The items with advantages by another estimator, over the same rewards and groups. Undefined, so that the items are left as they are, where a recipe
 * credits anything but one reward a rollout.
 */
function estimated(
  items: readonly PolicyItem[],
  { estimator, convention = 'verl' }: LossSettings,
): PolicyItem[] | undefined {
  if (estimator === undefined || items.some(({ credit }) => !credit)) return undefined;
  const made = new Map<Compared, ReturnType<(typeof ESTIMATORS)[typeof estimator]>>();
  const advantagesOf = (of: Compared) => {
    const advantages = made.get(of) ?? ESTIMATORS[estimator](of, convention);
    made.set(of, advantages);
    return advantages;
  };
  return items.flatMap((item) => {
    const { of, at, from = 0 } = item.credit!;
    const advantage = advantagesOf(of)[at] ?? null;
    if (advantage === null) return [];
    const own =
      typeof advantage === 'number' ? advantage : advantage.slice(from, from + item.sample.ids.length);
    return [{ ...item, advantage: own }];
  });
}

function aggregationOf(
  mode: (typeof AGGREGATIONS)[number],
  { items, role }: PolicyPart,
  groupOf: ReadonlyMap<string, string>,
  { roles }: Pick<Recipe, 'roles'>,
): Aggregation {
  if (mode === 'seq-sum-constant') return { mode, length: roles[role]!.sampling.maxNew };
  if (mode !== 'prompt-mean') return { mode };
  return { mode, groups: items.map(({ sample }) => groupOf.get(sample.id) ?? sample.id) };
}

/** The training plan with the settings of the loss. Throws `give-up` where the plan has nothing that they could change. */
function changedPlan(
  plan: TrainingPlan,
  records: Pick<RoundRecords, 'groups'>,
  recipe: Pick<Recipe, 'name' | 'roles'>,
  settings: LossSettings,
): TrainingPlan {
  const objective = objectiveOf(settings);
  const groupOf = groupsOf(records);
  let policyParts = 0;
  let estimatedParts = 0;
  const changed = (part: Update['parts'][number], set: string): Update['parts'][number] => {
    if (part.kind !== 'policy' || part.items.length === 0) return part;
    policyParts++;
    const items = estimated(part.items, settings);
    if (items) estimatedParts++;
    const next = items ? { ...part, items } : part;
    const { aggregation, kl, entropy } = settings;
    return {
      ...next,
      ...(objective ? { objective } : {}),
      ...(aggregation ? { aggregation: aggregationOf(aggregation, next, groupOf, recipe) } : {}),
      ...(kl?.weight === undefined
        ? {}
        : { kl: { weight: kl.weight, estimator: kl.estimator ?? 'k3', reference: { set, version: 0 } } }),
      ...(entropy === undefined ? {} : { entropy }),
    };
  };
  const updates = plan.updates.map((update) => ({
    ...update,
    parts: update.parts.map((part) => changed(part, update.set)),
  }));
  const trains = plan.updates.some(({ parts }) => parts.length > 0);
  if (
    trains &&
    policyParts === 0 &&
    plan.updates.every(({ parts }) => parts.every(({ kind }) => kind !== 'policy'))
  )
    throw noUse(
      recipe.name,
      'has no policy gradient, so that objective, estimator, aggregation, kl and entropy mean nothing',
    );
  if (settings.estimator && policyParts > 0 && estimatedParts === 0)
    throw noUse(
      recipe.name,
      `credits more than one reward a rollout (steps, tokens or verdicts), so that the estimator ${settings.estimator}, which needs one reward a rollout, means nothing`,
    );
  return { ...plan, updates };
}

const noUse = (recipe: string, why: string) =>
  new RollmeshError('give-up', 'settings.no-use', `The training plan of ${recipe} ${why}.`, {
    next: 'Leave the setting out; `npx rollmesh recipe show NAME` tells the method.',
  });

/** The recipe with the settings of the loss in its training plans; the recipe itself where there are no such settings. */
export function withLoss(recipe: Recipe, settings: LossSettings): Recipe {
  expectMethod(settings);
  if (Object.keys(settings).length === 0) return recipe;
  return {
    ...recipe,
    learn: async (records, tools) =>
      changedPlan(await recipe.learn(records, tools), records, recipe, settings),
  };
}

function changedSet(set: SetSettings, name: string, { optimizer, adapter }: MethodSettings): SetSettings {
  if (!set.optimizer) return set;
  const next = { ...set.optimizer, ...optimizer };
  expectSchedule(next);
  return { ...set, optimizer: next, ...(adapter && name === 'main' ? { adapter } : {}) };
}

/** The plan with the paths of its objectives' modules given relative to another folder. */
const fromFolder = (plan: TrainingPlan, folder: string): TrainingPlan => ({
  ...plan,
  updates: plan.updates.map((update) => ({
    ...update,
    parts: update.parts.map((part) =>
      part.kind === 'policy' && part.objective.kind === 'module'
        ? { ...part, objective: { ...part.objective, module: `${folder}/${part.objective.module}` } }
        : part,
    ),
  })),
});

/** Settings as `--set` takes them: "optimizer.learningRate=0.00001". */
const assignmentsOf = (settings: object, path = ''): string[] =>
  Object.entries(settings).flatMap(([key, value]: [string, unknown]) =>
    value !== null && typeof value === 'object'
      ? assignmentsOf(value, `${path}${key}.`)
      : [`${path}${key}=${String(value)}`],
  );

/**
 * A recipe with other settings of its method, under a name of its own. The optimiser's settings apply to every set that is trained. `folder`: where
 * the recipe's own module lies, relative to the module of the changed recipe, for objectives that lie beside it. Throws `settings.value` for settings
 * that do not fit together.
 */
export function withMethod(recipe: Recipe, settings: MethodSettings, folder?: string): Recipe {
  const { epochs, optimizer: _, adapter: __, ...loss } = settings;
  const changed = withLoss(recipe, loss);
  const text = canonicalJson(settings);
  return {
    ...changed,
    name: `${recipe.name}-${deriveId('method settings', recipe.name, text).slice(0, 10)}`,
    called: `${recipe.called ?? recipe.name} with ${assignmentsOf(settings).join(', ')}`,
    differences: [...recipe.differences, `Settings of this run: ${text}.`],
    sets: Object.fromEntries(
      Object.entries(recipe.sets).map(([name, set]) => [name, changedSet(set, name, settings)]),
    ),
    learn: async (records, tools) => {
      const made = await changed.learn(records, tools);
      const plan = folder === undefined ? made : fromFolder(made, folder);
      if (epochs === undefined) return plan;
      return { ...plan, updates: plan.updates.map((update) => ({ ...update, epochs })) };
    },
  };
}
