/** The rollout stage: drafts of every task, one of which is shown in the prompt of the attempts that are trained on. */
import type { Game } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { exactAndControls } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/reward-first-stage.ts';
import { answer, rollOut } from '../../protocols/roll-out.ts';
import { SOLVER } from '../../protocols/solver.ts';

/** The role that writes drafts. */
export const DRAFTER = 'drafter';

export const VARIANTS = {
  grpo: 'nobody drafts, and as many attempts are trained on as there would be drafts and attempts',
  'random-draft': 'any well-formed draft is shown, whatever it was paid',
  'worst-draft': 'a draft is shown that was paid least',
} as const;

/** How many of a group's rollouts are drafts. */
export const draftsOf = (groupSize: number): number => Math.floor(groupSize / 2);

/**
 * The index of the draft that is shown; null where none parses. paid [drafts], wellFormed [drafts]. Among equally good drafts the group decides at
 * random.
 */
export function chosenDraft(
  group: string,
  paid: readonly (number | null)[],
  wellFormed: readonly boolean[],
  variant?: string,
): number | null {
  const known = paid.flatMap((reward, i) => (wellFormed[i] && reward !== null ? [{ i, reward }] : []));
  if (known.length === 0) return null;
  const values = known.map(({ reward }) => reward);
  const wanted = variant === 'worst-draft' ? Math.min(...values) : Math.max(...values);
  const equals = variant === 'random-draft' ? known : known.filter(({ reward }) => reward === wanted);
  return new Random(`draft/${group}`).pick(equals).i;
}

export async function draftAndAttempt(
  game: Game<'solve' | 'revise'>,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { family, words } = game;
  const { round, tokenizer } = context;
  const { variant, groupSize } = round.settings;
  if (variant === 'grpo') return rollOut({ family }, context, tasks);
  const count = draftsOf(groupSize);
  const draftsT = await answer(
    family,
    context,
    DRAFTER,
    tasks.map(({ group, task }) => ({ group, task, count })),
  );
  const attempts = await answer(
    family,
    context,
    SOLVER,
    tasks.map((task, t) => {
      const drafts = draftsT[t]!;
      const paid = paidEarly(family, exactAndControls, context, task, drafts);
      const wellFormed = drafts.map(({ outcome }) => outcome === 'ok');
      const chosen = chosenDraft(task.group, paid, wellFormed, variant);
      const shown = (draft: Sample) => {
        const attempt = game.said(tokenizer.decode(draft.ids), context);
        return words.revise.ask({ task: task.task, attempt, right: null }, context);
      };
      return {
        group: task.group,
        task: task.task,
        count: groupSize - count,
        ...(chosen === null ? {} : { prompt: shown(drafts[chosen]!) }),
      };
    }),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: [...draftsT[t]!, ...attempts[t]!] }));
}
