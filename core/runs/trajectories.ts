/**
 * A round's episodes as plain rows, for files that other programs read: what each role was asked and said, turn by turn, with token ids,
 * log-probabilities, rewards and verdicts.
 */
import type { GroupContent, ReadableSample } from '../schema/answers.ts';
import type { Outcome } from '../schema/outcome.ts';

export interface Turn {
  /** Its number in the episode, from 0; over all roles where several speak in it. */
  readonly turn: number;
  /** The whole prompt as text; null where the policy's tokenizer cannot be read. */
  readonly prompt: string | null;
  readonly completion: string | null;
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  /** Log-probabilities (nats) of `ids` under the distribution that they were drawn from. */
  readonly logprobs: readonly number[];
  readonly stopped: boolean;
  readonly outcome: Outcome;
  /** As the recipe wrote them: of the turn, or of the whole episode on each of its turns. */
  readonly rewards: Rewards;
}

/** What a judge said of an episode. */
export interface Verdict {
  readonly role: string;
  readonly policy: string;
  readonly text: string | null;
  readonly outcome: Outcome;
  readonly rewards: Rewards;
  /** Does it agree with the checker? null where that cannot be told. */
  readonly agrees: boolean | null;
}

/** By stream; null = missing, which is never 0. */
export type Rewards = Readonly<Record<string, number | null>>;

export interface Trajectory {
  readonly round: number;
  readonly group: string;
  /** The task as its family writes it. */
  readonly task: string;
  /** The id of the first sample. */
  readonly id: string;
  /** Where several roles speak in one episode: its number in the group, which the trajectory of each of them has; otherwise null. */
  readonly episode: number | null;
  readonly role: string;
  /** The exact version, `NAME@VERSION`, with `/SET` where it is not the main one. */
  readonly policy: string;
  readonly turns: readonly Turn[];
  /** What the checker says of the answer, and of the whole solution with its steps; null where there is nothing to check. */
  readonly answerExact: boolean | null;
  readonly solutionExact: boolean | null;
  readonly verdicts: readonly Verdict[];
}

/** What an episode may be picked for. */
export const PICKS = {
  right: 'the checker calls the answer right',
  wrong: 'the checker calls the answer wrong',
  invalid: 'the text of a turn is no valid output of its role',
  'cut-off': 'a turn was cut off',
  missing: 'a reward is missing',
  misjudged: 'a judge disagrees with the checker',
} as const;
export type EpisodeKind = keyof typeof PICKS;

const policyOf = ({ policy: { name, version, set } }: ReadableSample): string =>
  `${name}@${version}${set ? `/${set}` : ''}`;

const turnOf = ({
  turn = 0,
  text,
  prompt,
  ids,
  logprobs,
  stopped,
  outcome,
  rewards,
}: ReadableSample): Turn => ({
  turn,
  prompt: text?.prompt ?? null,
  completion: text?.completion ?? null,
  promptIds: prompt,
  ids,
  logprobs,
  stopped,
  outcome,
  rewards,
});

const verdictOf = (judgment: ReadableSample): Verdict => ({
  role: judgment.role,
  policy: policyOf(judgment),
  text: judgment.text?.completion ?? null,
  outcome: judgment.outcome,
  rewards: judgment.rewards,
  agrees: judgment.oracle?.hit ?? null,
});

/** The episodes of a group, in the order of their first samples, and of each role apart; none where the group is not scored. */
export function trajectoriesOf(round: number, group: GroupContent): Trajectory[] {
  const samples = group.samples ?? [];
  const episodes = new Map<string, number[]>();
  samples.forEach(({ id, of }, index) => {
    const first = of ?? id;
    episodes.set(first, [...(episodes.get(first) ?? []), index]);
  });
  return [...episodes].map(([id, indices]) => {
    const turns = indices.map((index) => samples[index]!);
    // What the checker says of an episode stands at each of its turns.
    const last = indices.at(-1)!;
    const ids = new Set(turns.map((turn) => turn.id));
    return {
      round,
      group: group.group,
      task: group.task,
      id,
      episode: turns[0]!.episode ?? null,
      role: turns[0]!.role,
      policy: policyOf(turns[0]!),
      turns: turns.map(turnOf),
      answerExact: group.answersExact?.[last] ?? null,
      solutionExact: group.solutionsExact?.[last] ?? null,
      verdicts: (group.judgments ?? []).filter(({ of }) => of !== undefined && ids.has(of)).map(verdictOf),
    };
  });
}

/** Is the episode one of those? */
export function isPicked(
  { answerExact, turns, verdicts }: Trajectory,
  picks: readonly EpisodeKind[],
): boolean {
  const is: Readonly<Record<EpisodeKind, boolean>> = {
    right: answerExact === true,
    wrong: answerExact === false,
    invalid: turns.some(({ outcome }) => outcome !== 'ok'),
    'cut-off': turns.some(({ stopped }) => !stopped),
    missing: turns.some(({ rewards }) => Object.values(rewards).includes(null)),
    misjudged: verdicts.some(({ agrees }) => agrees === false),
  };
  return picks.length === 0 || picks.some((pick) => is[pick]);
}

/** The names under which rows are written: those of other tools, with underscores. */
export const rowOf = (run: string, episode: Trajectory) => ({
  run,
  round: episode.round,
  group: episode.group,
  task: episode.task,
  id: episode.id,
  episode: episode.episode,
  role: episode.role,
  policy: episode.policy,
  answer_exact: episode.answerExact,
  solution_exact: episode.solutionExact,
  turns: episode.turns.map(({ promptIds, ids, ...turn }) => ({
    ...turn,
    prompt_ids: promptIds,
    token_ids: ids,
  })),
  verdicts: episode.verdicts,
});
export type TrajectoryRow = ReturnType<typeof rowOf>;
