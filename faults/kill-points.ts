/** Where and when a process is killed: each moment is named after what the loop was doing. */
import type { RequestKind } from './proxy.ts';

export type KillTarget = 'mesh' | 'learner';

/**
 * At an event of the mesh's log, or around a request of the learner: `before` it reaches the mesh, in the `middle` of its
 * body, `after` the mesh has done it and before the learner knows, or when it was answered and nothing was asked since
 * (`quiet`): the learner is at work then.
 */
export type Moment =
  | { readonly log: string; readonly delayMs?: number }
  | { readonly request: RequestKind; readonly when: 'before' | 'middle' | 'after' | 'quiet' };

export interface KillPoint {
  readonly name: string;
  readonly target: KillTarget;
  readonly at: Moment;
}

const both = (name: string, at: Moment): KillPoint[] =>
  (['mesh', 'learner'] as const).map((target) => ({ name: `${name} (${target})`, target, at }));

/** Every stage of a round, in the order in which a round comes through it. */
export const KILL_POINTS: readonly KillPoint[] = [
  ...both('proposing', { log: 'policy.opened' }),
  ...both('tasks admitted, before rollout', { log: 'propose.done' }),
  ...both('rollout', { log: 'propose.done', delayMs: 120 }),
  ...both('rolled out, before judging', { log: 'rollout.done' }),
  ...both('judging', { log: 'rollout.done', delayMs: 120 }),
  ...both('judged, before pulling', { log: 'judge.done' }),
  ...both('pulling', { request: 'pull', when: 'after' }),
  ...both('reading groups', { request: 'object', when: 'before' }),
  ...both('training', { request: 'object', when: 'quiet' }),
  ...both('trained, before the report', { request: 'report', when: 'before' }),
  ...both('files: first byte', { request: 'file', when: 'before' }),
  ...both('files: half of one', { request: 'file', when: 'middle' }),
  ...both('files stored, before the commit', { request: 'commit', when: 'before' }),
  ...both('committed, before the learner knows', { request: 'commit', when: 'after' }),
  ...both('before the ack', { request: 'ack', when: 'before' }),
  ...both('after the ack', { request: 'ack', when: 'after' }),
];
