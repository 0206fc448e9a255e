/**
 * The interface to a language model: sample completions, and score given tokens. It depends on no runtime:
 * `infer/` implements it over ONNX Runtime, tests implement it with uniform logits.
 */
import type { Measurement } from '../schema/measurement.ts';
import type { TokenGrammar } from '../text/token-grammar.ts';

export type TokenIds = readonly number[];

/** The longest sequence of a round, in tokens, and of ONNX Runtime, whose graph holds the rotary tables. The kernels engine goes on to what the model was made for. */
export const LONGEST_CONTEXT = 4096;

/** Formats with fewer bits than the learner's 32, for policies that only sample. `w8a8` rounds activations, too. */
export const SMALLER_WEIGHTS = ['int8', 'int4', 'w8a8'] as const;
export type SmallerWeights = (typeof SMALLER_WEIGHTS)[number];

/**
 * Engines that compute a policy, beside ONNX Runtime: the project's own kernels, in float32 with fused multiply-adds, or with separate ones,
 * whose bits are the same on every host. Smaller weights are computed alike in both.
 */
export const KERNEL_ENGINES = ['kernels', 'kernels-plain'] as const;
export type KernelEngine = (typeof KERNEL_ENGINES)[number];

/** The engines that may be asked for by name. */
export const ENGINES = ['onnx', ...KERNEL_ENGINES] as const;
export type Engine = (typeof ENGINES)[number];

/** The engine as a reference states it: ONNX Runtime is the default and is left out. */
export const kernelEngineOf = (engine: Engine | undefined): KernelEngine | undefined =>
  engine === 'onnx' ? undefined : engine;

/** An exact, immutable version of a named policy. Messages always name one; there is no "latest" on the data path. */
export interface PolicyRef {
  readonly name: string;
  readonly version: number;
  /** The parameter set of the version, where a recipe has several; absent = the main one. */
  readonly set?: string | undefined;
  /** The format of the weights, which changes the policy slightly; absent = float32, as they were trained. */
  readonly weights?: SmallerWeights | undefined;
  /** The engine and its arithmetic, which change the policy in its last bits; absent = ONNX Runtime. */
  readonly engine?: KernelEngine | undefined;
}

/** Do both name the same weights, computed with to the same bits? */
export const samePolicy = (a: PolicyRef, b: PolicyRef): boolean =>
  a.name === b.name &&
  a.version === b.version &&
  a.set === b.set &&
  a.weights === b.weights &&
  a.engine === b.engine;

/** One prompt and its samples. The prompt is computed once and shared by its samples. */
export interface GeneratePrompt {
  readonly ids: TokenIds;
  /** One id per sample; the id keys the sample's uniforms, so the same id, version and prompt give the same tokens. */
  readonly sampleIds: readonly string[];
}

export interface SamplingSettings {
  /** Upper bound on generated tokens, stop token included. */
  readonly maxNew: number;
  /** 0 = greedy (arg max; log-probabilities are then those at temperature 1). */
  readonly temperature: number;
  /** Keep the smallest set of tokens whose probability reaches topP (1 = off). Log-probabilities are of the truncated distribution. */
  readonly topP?: number;
  /** Keep the topK most likely tokens (0 = off). */
  readonly topK?: number;
  /** Generation of a row ends after one of these; the stop token is part of the completion. */
  readonly stop: TokenIds;
  /** Only tokens that the grammar allows may come; log-probabilities are those among them. A row also ends where the grammar ends. */
  readonly grammar?: TokenGrammar;
  /** How many of the tokens that were the most likely are told with each that was drawn (0 = none). They change no draw. */
  readonly alternatives?: number;
}

/** A token that might have been drawn. */
export interface Alternative {
  readonly id: number;
  /** Log-probability (nats) under the distribution that its place was drawn from. */
  readonly logprob: number;
}

export interface Completion {
  /** Generated tokens, stop token included; the prompt is not repeated. */
  readonly ids: number[];
  /** Log-probability (nats) of each token under the distribution it was sampled from. Same length as ids. */
  readonly logprobs: number[];
  /** True where a stop token or the grammar ended the row; false where maxNew cut it off. */
  readonly stopped: boolean;
  /** [ids]: the most likely tokens of each place, most likely first; fewer where fewer could be drawn. Absent where none were asked for. */
  readonly alternatives?: readonly (readonly Alternative[])[];
}

export interface TokenScores {
  /** Log-probabilities (nats) of ids[1..]; length ids.length - 1. */
  readonly logprobs: number[];
  /** Entropies (nats) of the distributions those tokens were drawn from; same length. */
  readonly entropy: number[];
  /** What the head gives after each token, [ids][outputs]; absent where the policy has none. */
  readonly heads?: number[][];
  /** [ids - 1]: the most likely tokens of each of those places, most likely first, at temperature 1. Absent where none were asked for. */
  readonly alternatives?: Alternative[][];
  /** [ids - 1]: how many tokens are at least as likely as the one that is there, itself included; there with `alternatives`. */
  readonly ranks?: number[];
}

/** `value` gives one number after each token, `classes` the logits of two classes or more. */
export type HeadKind = 'value' | 'classes';

/** A sequence to be measured (core/policy/measure.ts). */
export interface MeasuredSequence {
  /** At least one token. */
  readonly prompt: TokenIds;
  /** The tokens after it that are measured. */
  readonly ids: TokenIds;
  /** After how many of `ids` the classes are read, such as at the end of each step; default after all of them. */
  readonly ends?: readonly number[];
  /** The group whose record keeps the measurement; absent in the propose stage, whose record is that of the proposals. */
  readonly group?: string;
}

/** Sees all completions as far as they have been drawn, [prompts][samples so far]; resolves to false to end the generation there. */
export type Watch = (soFar: readonly (readonly Completion[])[]) => Promise<boolean>;

export interface Policy {
  readonly ref: PolicyRef;
  /** The number of weights in this process; absent where another computes with them. */
  readonly parameters?: number;
  /** The values that a token's attention reads for each token before it, over all layers; absent where its time is not reckoned. */
  readonly attended?: number;
  /** The head on its hidden states; absent = it has none. */
  readonly head?: HeadKind | undefined;
  /**
   * [prompts] -> [prompts][samples], in the order given. An engine that draws token by token calls `watch` after each turn; one that samples
   * inside a graph does not.
   */
  generate(
    prompts: readonly GeneratePrompt[],
    settings: SamplingSettings,
    watch?: Watch,
  ): Promise<Completion[][]>;
  /** Scores whole sequences at temperature 1, in the order given. `alternatives`: how many of the most likely tokens are told of each place; absent = none. */
  score(sequences: readonly TokenIds[], alternatives?: number): Promise<TokenScores[]>;
  /** For a policy that knows measurements instead of making them by its scores, such as one that plays a record back (core/policy/measure.ts). */
  readonly measure?: (sequences: readonly MeasuredSequence[]) => Promise<Measurement[]>;
  dispose(): Promise<void>;
}
