/**
 * Policy objectives as data: the names and options that a recipe sets. The functions need tensors and are in learner/losses under the
 * same names. ρ is the ratio of the trained policy to the old one, per token unless said otherwise.
 */

/** ρ is clipped to [1 − clipLow, 1 + clipHigh]. */
export interface ClipBounds {
  readonly clipLow: number;
  readonly clipHigh: number;
}

/** PPO's clipped surrogate, per token or (GSPO) per sequence. */
export interface PpoClipOptions extends ClipBounds {
  /** c > 1: where A < 0 the loss is at most −c·A. Absent = off. */
  readonly dualClip?: number;
}

export interface GmpoOptions {
  /** log-ratios are clipped to [−clipLow, clipHigh] nats; the paper has 0.4 for both. */
  readonly clipLow: number;
  readonly clipHigh: number;
}

export interface AipoOptions {
  /** Largest importance weight; 2 to 10. */
  readonly maxRatio: number;
}

export interface SapoOptions {
  /** Temperatures of the gate where A > 0 and elsewhere; the paper's are about 1 and 1.05. */
  readonly tauPositive: number;
  readonly tauNegative: number;
}

export interface DppoTvOptions {
  /** Largest move of a token's probability, up where A > 0 and down where A < 0; prime-rl has 0.2. */
  readonly delta: number;
  /** Weight of (log π − log μ)² on every token; prime-rl has 1e-3. */
  readonly squareWeight?: number;
}

export interface DecoupledPpoOptions extends PpoClipOptions {
  /** Largest weight proximal/behaviour of a token. */
  readonly cap: number;
}

/** An objective of the recipe's own: a function in a module that the learner loads and no Worker does. */
export interface ModuleObjective {
  readonly kind: 'module';
  /** Path of the module, relative to the recipe's: `./loss.ts`. Its default export is the function (see rollmesh/learner). */
  readonly module: string;
  /** The options that the function is given beside the tokens, as JSON. */
  readonly options?: Readonly<Record<string, unknown>>;
}

export type PolicyObjectiveSpec =
  | ({ readonly kind: 'ppo-clip' } & PpoClipOptions)
  | ({ readonly kind: 'gspo' } & PpoClipOptions)
  | ({ readonly kind: 'gmpo' } & GmpoOptions)
  | ({ readonly kind: 'cispo' } & ClipBounds)
  | ({ readonly kind: 'aipo' } & AipoOptions)
  | ({ readonly kind: 'sapo' } & SapoOptions)
  | ({ readonly kind: 'dppo-tv' } & DppoTvOptions)
  | ({ readonly kind: 'decoupled-ppo' } & DecoupledPpoOptions)
  | { readonly kind: 'reinforce' }
  | ModuleObjective;
