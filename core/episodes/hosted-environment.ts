/**
 * An environment that the mesh serves to others by the Open Reward Standard (https://openrewardstandard.io). It is pure: what an episode came to
 * follows from its task and the calls so far, so that a session is a list of calls that any isolate can go on from.
 */
import type { ToolSchema } from './tool-arguments.ts';

/** `test` tasks are those of the held-out split: none of them is ever one of `train`. */
export const HOSTED_SPLITS = ['train', 'test'] as const;
export type HostedSplit = (typeof HOSTED_SPLITS)[number];

export interface HostedTool {
  readonly name: string;
  /** For the policy that may call it. */
  readonly description: string;
  /** JSON schema of an object. No call gets to the environment whose arguments do not fit. */
  readonly input_schema: ToolSchema;
}

export interface HostedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface HostedOutput {
  readonly text: string;
  /** What this call is paid; null where it is paid nothing. An episode is worth the sum. */
  readonly reward: number | null;
  readonly finished: boolean;
}

export interface HostedTask {
  /** What anybody may know of the task before it is played. The reference answer, if there is one, is told of `train` alone. */
  readonly taskView: Readonly<Record<string, unknown>>;
  /** What the policy reads first: the rules, then the situation. */
  readonly prompt: readonly string[];
  /** What the last of these calls gave. `calls`: at least one, of the environment's own tools; none before it finished the episode. */
  readonly after: (calls: readonly HostedCall[]) => HostedOutput;
}

export interface HostedEnvironment {
  /** Stands in the URL: lower-case letters and dashes. */
  readonly name: string;
  readonly tools: readonly HostedTool[];
  readonly count: (split: HostedSplit) => number;
  /** `index`: from 0, below the split's count. */
  readonly task: (split: HostedSplit, index: number) => HostedTask;
}
