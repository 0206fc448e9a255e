/**
 * The rollouts of a round, by its number: attempts with a revision of each, or attempts alone; and what a reviser reads, which is an attempt and
 * whether it was right.
 */
import * as v from 'valibot';
import type { Game, Speaker } from '../../core/game/game.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import { count } from '../../core/schema/numbers.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup } from '../../core/schema/sample.ts';
import { exactAndControls } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/reward-first-stage.ts';
import { answer } from '../../protocols/roll-out.ts';
import { SOLVER } from '../../protocols/solver.ts';

/** The role that revises attempts. */
export const REVISER = 'reviser';

export const VARIANTS = {
  grpo: 'rewards alone: the advantages of GRPO for eight attempts at a task, and no reviser',
  rft: 'right attempts of eight at a task are imitated, and nobody revises',
  'revision-only': 'the first phase goes on to the end: nothing is distilled',
  'no-sync': 'the teacher stays what it was at the end of the first phase',
  'no-bit': 'reviser and teacher are not told whether the attempt was right',
} as const;

/** The number of rounds in the first phase, and the number of rounds after which the teacher is replaced by the present policy. */
const SCHEDULE = {
  first: [{ phase: 'revise', rounds: 8 }],
  cycle: [{ phase: 'distil', rounds: 8 }],
} as const satisfies Schedule<'revise' | 'distil'>;

type Turn =
  /** Attempts, and one revision of each. */
  | { readonly phase: 'revise' }
  /** Attempts for the teacher of this number, from 0. A teacher has the weights that the first of its rounds begins with. */
  | { readonly phase: 'distil'; readonly teacher: number }
  /** Attempts for an arm without a reviser. */
  | { readonly phase: 'grpo' | 'rft' };

/**
 * The recipe state: the number of the present teacher, and the version that has its weights; null before its first round. That version cannot be computed
 * from the round's number, since a round that fails makes none.
 */
export const presentTeacher = v.object({ teacher: count, version: v.nullable(count) });

export function turnOf({ index, settings: { variant } }: Pick<RoundSpec, 'index' | 'settings'>): Turn {
  if (variant === 'grpo' || variant === 'rft') return { phase: variant };
  const { phase, before } = phaseAt<'revise' | 'distil'>(SCHEDULE, index);
  if (phase === 'revise' || variant === 'revision-only') return { phase: 'revise' };
  return { phase, teacher: variant === 'no-sync' ? 0 : Math.floor(before / SCHEDULE.cycle[0].rounds) };
}

/** A game whose solver can be shown an attempt and whether it was right. */
export type RevisedGame = Game<'solve' | 'revise'>;

/**
 * What a reviser reads: an attempt at a task, whether or not it parses, and whether it earned a reward. It is told nothing of an attempt whose reward
 * is missing.
 */
export const revisionOf = (
  { words, said }: RevisedGame,
  { task, text, reward }: { readonly task: string; readonly text: string; readonly reward: number | null },
  variant: string | undefined,
  speaker: Speaker,
): string =>
  words.revise.ask(
    {
      task,
      attempt: said(text, speaker),
      right: variant === 'no-bit' || reward === null ? null : reward > 0,
    },
    speaker,
  );

/** In the first phase half of a group are attempts, and each of the others revises one of them. */
export async function attemptAndRevise(
  game: RevisedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { family } = game;
  const { round, tokenizer } = context;
  const { variant, groupSize } = round.settings;
  const count = Math.floor(groupSize / 2);
  const attemptsByTask = await answer(
    family,
    context,
    SOLVER,
    tasks.map(({ group, task }) => ({ group, task, count })),
  );
  const revisions = await answer(
    family,
    context,
    REVISER,
    tasks.flatMap((task, t) => {
      const attempts = attemptsByTask[t]!;
      const paid = paidEarly(family, exactAndControls, context, task, attempts);
      return attempts.map(({ ids }, i) => {
        const attempt = { task: task.task, text: tokenizer.decode(ids), reward: paid[i]! };
        return {
          group: task.group,
          task: task.task,
          prompt: revisionOf(game, attempt, variant, context),
          count: 1,
          from: i,
        };
      });
    }),
  );
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...attemptsByTask[t]!, ...revisions.slice(t * count, (t + 1) * count).flat()],
  }));
}
