/**
 * The rollout stage: attempts at every task and, where all of a task’s attempts fail, hints of growing levels with attempts after each, until an
 * attempt is paid.
 */
import { asking, type Game } from '../../core/game/game.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/reward-first-stage.ts';
import { answer, rollOut, rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';

/** Levels of hints; the first reveals least. */
const LEVELS = [1, 2, 3] as const;

export interface HintedGame extends Game<'solve' | 'follow' | 'hint'> {
  /** Another task that is as hard as the group's, whose hints a control gives; absent where nobody can draw one. */
  readonly otherTask?: (task: AdmittedTask) => string;
}

/** The role that writes hints from a reference solution. */
export const HINTER = 'hinter';

export const VARIANTS = {
  grpo: 'nobody gives hints',
  'start-hints': 'hints are written by version 0',
  'random-hints': 'a hint is written from the reference of another task',
} as const;

/** Whether no attempt was paid anything. */
const allFailed = (paid: readonly (number | null)[]): boolean => paid.every((reward) => reward === 0);

/** A group while it is made, and whether it still needs a hint. */
interface Group {
  readonly task: AdmittedTask;
  /** The task whose reference solution the hinter is shown. */
  readonly shown: string;
  readonly samples: readonly Sample[];
  readonly open: boolean;
}

/** One level: a hint for every group that needs one, and attempts after the hints that parse. */
async function hintAt(
  game: HintedGame,
  context: RoundContext,
  groups: readonly Group[],
  level: number,
): Promise<Group[]> {
  const { family, words } = game;
  const { tokenizer, round } = context;
  const { groupSize } = round.settings;
  const open = groups.filter((group) => group.open);
  const hints = await samplePrompts(
    context,
    HINTER,
    open.map(({ task, shown }) => {
      const { prompt, parse } = asking(game, context, 'hint', { task: shown, level, levels: LEVELS.length });
      return { prompt, parse, sampleIds: rolloutIds(task.group, HINTER, 1, level) };
    }),
  );
  const hinted = open.map((group, o) => ({ ...group, samples: [...group.samples, ...hints[o]!] }));
  const read = hinted.filter((_, o) => hints[o]![0]!.outcome === 'ok');
  const attempts = await answer(
    family,
    context,
    SOLVER,
    read.map(({ task, samples }) => {
      const hint = game.said(tokenizer.decode(samples.at(-1)!.ids), context);
      return {
        group: task.group,
        task: task.task,
        prompt: words.follow.ask({ task: task.task, hint }, context),
        about: hint,
        count: groupSize,
        from: level * groupSize,
      };
    }),
  );
  const after = new Map(
    hinted.map((group): [string, Group] => {
      const at = read.indexOf(group);
      if (at < 0) return [group.task.group, group];
      const mine = attempts[at]!;
      return [
        group.task.group,
        {
          ...group,
          samples: [...group.samples, ...mine],
          open: allFailed(paidEarly(family, exactAndControls, context, group.task, mine)),
        },
      ];
    }),
  );
  return groups.map((group) => after.get(group.task.group) ?? group);
}

export async function attemptWithHints(
  game: HintedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { family } = game;
  const { round } = context;
  const plain = await rollOut({ family }, context, tasks);
  if (round.settings.variant === 'grpo') return plain;
  let groups = plain.map(
    ({ samples }, t): Group => ({
      task: tasks[t]!,
      shown: round.settings.variant === 'random-hints' ? game.otherTask!(tasks[t]!) : tasks[t]!.task,
      samples,
      open: allFailed(paidEarly(family, exactAndControls, context, tasks[t]!, samples)),
    }),
  );
  for (const level of LEVELS) groups = await hintAt(game, context, groups, level);
  return groups.map(({ task, samples }) => ({ round: round.id, ...task, samples: [...samples] }));
}

/** Attempts are paid; hints have no reward of their own. */
export async function payAttempts(
  { family }: Pick<HintedGame, 'family'>,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const reward = rewardNamed(exactAndControls, context.round.settings.rewardFunction);
  return groups.map((group) => {
    const paid = payAnswers(family, reward, context, group);
    return {
      ...paid,
      samples: paid.samples.map((sample) => (sample.role === HINTER ? { ...sample, rewards: {} } : sample)),
    };
  });
}

/** The attempts that are trained on: those after the last hint that was tried, of both hints where two say the same. They replace the failed ones before them. */
export function trainedAttempts(group: ScoredGroup): ScoredGroup {
  const attempts = group.samples.filter(({ role }) => role === SOLVER);
  const last = attempts.at(-1)?.about;
  return { ...group, samples: attempts.filter(({ about }) => about === last) };
}

/** The number of hints that were asked for. */
export const hintsOf = ({ samples }: Pick<ScoredGroup, 'samples'>): number =>
  samples.filter(({ role }) => role === HINTER).length;
