/** What every stage of a round is given: a voice for each role at exactly the version that the round names, and the samples it makes. */
import { RollmeshError, wrongInput } from './errors.ts';
import type {
  Completion,
  GeneratePrompt,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from './policy.ts';
import type { PolicyText } from './renderer/policy-text.ts';
import type { Renderer } from './renderer/renderer.ts';
import type { RoleSettings, StageRecipe } from './role.ts';
import type { Outcome } from './schema/outcome.ts';
import type { RoundSpec } from './schema/round.ts';
import type { Sample } from './schema/sample.ts';
import { type EvaluationTasks, HELD_OUT } from './split.ts';
import type { Tokenizer } from './text/tokenizer-port.ts';

/** `R`: what is known of the recipe beyond what a stage needs; the functions of a recipe ask for no more than `StageRecipe`. */
export interface RoundContext<R extends StageRecipe = StageRecipe> {
  readonly recipe: R;
  readonly round: RoundSpec;
  readonly tokenizer: Tokenizer;
  /** Between messages and this policy's tokens, for recipes that ask in messages. */
  readonly renderer: () => Renderer;
  /** Tokens that a sequence of the policy may have, prompt included. */
  readonly contextLength: number;
  /** The tasks that this run is examined on; who trains on its test tasks, as ttrl does, takes them from here too. */
  readonly evaluationTasks: EvaluationTasks;
  /** [prompts] -> [prompts][samples] by the role, with the recipe's sampling unless it is changed here. */
  readonly generate: (
    role: string,
    prompts: readonly GeneratePrompt[],
    change?: Partial<SamplingSettings>,
  ) => Promise<Completion[][]>;
  /** What the last round's training plan left for this one; undefined in the first. */
  readonly recipeState: () => Promise<unknown>;
}

/** A stage over one version of all roles, for evaluation. Scores are had here alone: they are not recorded, so nothing that is audited may need them. */
export interface EvaluationContext extends RoundContext {
  /** Scores whole sequences under the role's weights, at temperature 1. */
  readonly score: (role: string, sequences: readonly TokenIds[]) => Promise<TokenScores[]>;
  readonly version: number;
  /** The same over version 0: yardsticks are made there. */
  readonly atStart: RoundContext;
  /** Makes something once a run: what is asked again under the same key is handed out again. */
  readonly once: <T>(key: string, make: () => Promise<T>) => Promise<T>;
}

/** What a runtime lends a stage. */
export interface RoundContextParts<R extends StageRecipe = StageRecipe> {
  readonly recipe: R;
  readonly round: RoundSpec;
  readonly tokenizer: Tokenizer;
  /** Default: a policy that cannot be asked in messages. */
  readonly renderer?: PolicyText['renderer'] | undefined;
  /** Default: no bound. */
  readonly contextLength?: number | undefined;
  /** Runs `work` with the policy of exactly this version and set. */
  readonly use: <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>) => Promise<T>;
  readonly recipeState: () => Promise<unknown>;
  /** Default: all that is held out. */
  readonly evaluationTasks?: EvaluationTasks | undefined;
}

const noRenderer = (): Renderer => {
  throw new Error('internal: this stage was opened without a renderer');
};

export function openRoundContext<R extends StageRecipe>({
  recipe,
  round,
  tokenizer,
  renderer = noRenderer,
  contextLength = Number.POSITIVE_INFINITY,
  use,
  recipeState,
  evaluationTasks = HELD_OUT,
}: RoundContextParts<R>): RoundContext<R> {
  return {
    recipe,
    round,
    tokenizer,
    renderer,
    contextLength,
    recipeState,
    evaluationTasks,
    // No prompt, no session: a stage whose groups are all off-grammar asks nothing of the judge.
    generate: (role, prompts, change = {}) =>
      prompts.length
        ? use(refOf(round, role), (policy) =>
            policy.generate(prompts, { ...samplingOf({ recipe, tokenizer, renderer }, role), ...change }),
          )
        : Promise.resolve([]),
  };
}

/** The round's roles all at one version of their sets, frozen or not, in float32: an evaluation asks what the weights can do. */
const evaluationRound = (round: RoundSpec, version: number): RoundSpec => ({
  ...round,
  roles: Object.fromEntries(
    Object.entries(round.roles).map(([role, { weights: _, ...ref }]) => [role, { ...ref, version }]),
  ),
});

/** `kept` holds what evaluations of one run share. */
export function openEvaluationContext(
  parts: RoundContextParts,
  version: number,
  kept: Map<string, Promise<unknown>>,
): EvaluationContext {
  const round = evaluationRound(parts.round, version);
  return {
    ...openRoundContext({ ...parts, round }),
    version,
    atStart: openRoundContext({ ...parts, round: evaluationRound(parts.round, 0) }),
    score: (role, sequences) =>
      sequences.length
        ? parts.use(refOf(round, role), (policy) => policy.score(sequences))
        : Promise.resolve([]),
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const made = kept.get(key) ?? make();
      kept.set(key, made);
      return made as Promise<T>;
    },
  };
}

/** The version that a round names for a role. Throws `give-up` where it names none: the round is of another recipe. */
export function refOf(round: RoundSpec, role: string): PolicyRef {
  const ref = round.roles[role];
  if (ref) return ref;
  throw new RollmeshError('give-up', 'round.role', `Round ${round.id} has no ${role}.`, {
    expected: `one of ${Object.keys(round.roles).join(', ')}`,
  });
}

export function roleOf(recipe: StageRecipe, role: string): RoleSettings {
  const settings = recipe.roles[role];
  if (settings) return settings;
  throw wrongInput('recipe.role', `Recipe ${recipe.name} has no role ${JSON.stringify(role)}.`, {
    expected: `one of ${Object.keys(recipe.roles).join(', ')}`,
  });
}

/** How a role samples, and where its text ends: at the recipe's own token, or where the policy's renderer says. */
export const samplingOf = (
  { recipe, tokenizer, renderer }: Pick<RoundContext, 'recipe' | 'tokenizer' | 'renderer'>,
  role: string,
): SamplingSettings => ({
  ...roleOf(recipe, role).sampling,
  ...(recipe.stop === undefined ? renderer().ends() : { stop: [tokenizer.id(recipe.stop)] }),
});

/** A sample as it was generated; `outcome` and `rewards` are filled in by who reads it. */
export function sampleOf(
  { round }: Pick<RoundContext, 'round'>,
  role: string,
  id: string,
  prompt: TokenIds,
  completion: Completion,
  outcome: Outcome,
  rewards: Sample['rewards'] = {},
): Sample {
  const { ids, logprobs, stopped } = completion;
  return {
    id,
    role,
    policy: { ...refOf(round, role) },
    prompt: [...prompt],
    ids,
    logprobs,
    stopped,
    outcome,
    rewards,
  };
}
