/** Where and when a process is killed: each moment is named after what the loop was doing. */
import type { RequestKind } from './proxy.ts';

export type Victim = 'mesh' | 'learner';

/**
 * At an event of the mesh's log, or around a request of the learner: `before` it reaches the mesh, in the `middle` of its
 * body, `after` the mesh has done it and before the learner knows, or when it was answered and nothing was asked since
 * (`quiet`): the learner is at work then.
 */
export type Moment =
  | { readonly log: string; readonly delayMs?: number }
  | { readonly request: RequestKind; readonly when: 'before' | 'middle' | 'after' | 'quiet' };

export interface Strike {
  readonly name: string;
  readonly victim: Victim;
  readonly at: Moment;
}

const both = (name: string, at: Moment): Strike[] =>
  (['mesh', 'learner'] as const).map((victim) => ({ name: `${name} (${victim})`, victim, at }));

/** Every stage of a round, in the order in which a round comes through it. */
export const STRIKES: readonly Strike[] = [
  ...both('proposing', { log: 'policy.opened' }),
  ...both('tasks admitted, before solving', { log: 'propose.done' }),
  ...both('solving', { log: 'propose.done', delayMs: 120 }),
  ...both('solved, before judging', { log: 'rollout.done' }),
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
