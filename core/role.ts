/**
 * What a stage of a round must know of its recipe: which roles speak, how they sample, where their text stops and what rewards exist.
 * It lies below both the recipe and the stage, so that neither has to import the other for its types.
 */
import type { SamplingSettings } from './policy.ts';

/** One of the things that `--reward` may ask for. */
export interface RewardInfo {
  /** Says in a sentence what is paid. */
  readonly description: string;
  /** Rewards that do not use gold must be the same whatever the oracle says; a test holds every one of them to it. */
  readonly usesGold: boolean;
}

/** Where the rewards of a role stand: on its whole answer, on each turn of an episode, on each step of an answer or on each token. */
export type Placement = 'sequence' | 'turn' | 'step' | 'token';

export interface RoleSettings {
  readonly description: string;
  /** The role of the start's warm start that it speaks as; default its own name. */
  readonly speaksAs?: string;
  /** The parameter set that speaks in this role; default the main one. */
  readonly set?: string;
  /** Log-probabilities are recorded under the distribution that was sampled from. Stops come from the recipe. */
  readonly sampling: Omit<SamplingSettings, 'stop'>;
  /** Default `sequence`. */
  readonly placement?: Placement;
  /** It is held to the exact checker even where `--reward` pays the others without gold. */
  readonly usesGold?: boolean;
}

export interface StageRecipe {
  readonly name: string;
  /** Token that ends every completion. Absent where the policy's renderer says what ends an answer. */
  readonly stop?: string;
  /** What `--reward` takes; the first is the default. */
  readonly rewards: Readonly<Record<string, RewardInfo>>;
  /** Roles in the order in which they first act. */
  readonly roles: Readonly<Record<string, RoleSettings>>;
}

/** What the monitors of a round can say about tasks and answers, as far as the recipe tells. */
export interface RoundDescription {
  /** A scalar that says how hard a task is. */
  readonly difficulty?: (task: string) => number;
  /** Does the completion write its steps? */
  readonly worked?: (text: string) => boolean;
}
