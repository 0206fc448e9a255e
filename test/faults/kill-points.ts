/** The kill points: the moments at which a process is killed, each named after what the round was doing. */
import type { RequestKind } from './proxy.ts';

export type KillTarget = 'mesh' | 'learner';

/**
 * A moment is an event of the mesh's log, or is set by a request of the learner: `before` it reaches the mesh, in the `middle` of
 * its body, `after` the mesh has done it and before the learner knows, or `quiet`, when it was answered and no other request but
 * pulls has followed, which means that the learner is at work.
 */
export type Moment =
  | { readonly log: string; readonly delayMs?: number }
  | { readonly request: RequestKind; readonly when: 'before' | 'middle' | 'after' | 'quiet' };

export interface KillPoint {
  readonly name: string;
  readonly target: KillTarget;
  readonly at: Moment;
  /** Where it is given, the process is not killed but stopped for so many ms (SIGSTOP), and goes on. */
  readonly pauseMs?: number;
}

const both = (name: string, at: Moment): KillPoint[] =>
  (['mesh', 'learner'] as const).map((target) => ({ name: `${name} (${target})`, target, at }));

/** Kill points in every stage of a round, in the order of the stages. */
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
