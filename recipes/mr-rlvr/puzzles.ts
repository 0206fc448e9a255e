/** The two stages: what a round is played on, and what it pays. A puzzle follows from the id of its group and its task. */
import type { Game, Speaker } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import {
  ok,
  type ParseResult,
  rendered,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, exactReward, payAnswers } from '../../protocols/answer-rewards.ts';
import { rollOut, rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { type Puzzle, puzzleFrom, puzzlePrompt } from '../../worlds/arithmetic/puzzles.ts';
import { fixedTasks, nextTasks } from '../../worlds/drawn-tasks.ts';

/** Sums of every task. */
export const SUMS = 5;
/** Rounds of the first stage. */
export const FIRST_STAGE = 6;
/** Tasks of which there are worked solutions, and tasks of which there are answers. */
const CORPUS = 256;
const LABELLED = 32;

export const rewards = {
  exact: {
    ...exactReward,
    description: '1 for an exact answer; for a puzzle the share of the steps in question that are right',
  },
  ...CONTROLS,
};

export const VARIANTS = {
  rlvr: 'no puzzles: in both stages the answers to the labelled tasks are paid',
  'corpus-answers':
    'no puzzles: in the first stage the answers to the tasks of the worked solutions are paid',
  'random-targets': 'a puzzle is paid by the steps of its solution in a drawn order',
} as const;

type Stage = Pick<RoundSpec, 'index' | 'settings'>;
const isFirst = ({ index }: Stage) => index <= FIRST_STAGE;
/** Whether a round is played on puzzles. */
export const hasPuzzles = (round: Stage): boolean =>
  isFirst(round) && round.settings.variant !== 'rlvr' && round.settings.variant !== 'corpus-answers';

const corpus = fixedTasks('mr-rlvr/corpus', CORPUS, (random) => freshTask(random, SUMS));
const labelled = fixedTasks('mr-rlvr/labelled', LABELLED, (random) => freshTask(random, SUMS));

/** The next tasks of the round’s stage. */
export const stageTasks = (round: RoundSpec): string[] =>
  nextTasks(round, isFirst(round) && round.settings.variant !== 'rlvr' ? corpus() : labelled());

/** A puzzle as it is posed in a world. */
export interface Posed extends Pick<Puzzle, 'kind' | 'places'> {
  /** What is right [parts], of which those at the places are in question. */
  readonly parts: readonly string[];
  readonly prompt: (speaker: Speaker) => string;
  /** Reads an answer to the puzzle as a solution, whose steps are the parts. */
  readonly family: TaskFamily;
}
export type Pose = (group: Pick<AdmittedTask, 'group' | 'task'>) => Posed;

/** What stands in the place of what is missing. */
export const MISSING = '____';

/** A line with a gap in it, and what is missing there. */
function gapped(line: string): { readonly line: string; readonly missing: string } {
  const numbers = [...line.matchAll(/-?\d+(?:[.,]\d+)*/g)];
  const found = numbers.at(-1) ?? [...line.matchAll(/[\p{L}\p{M}]+/gu)].at(-1);
  if (!found) return { line: MISSING, missing: line.trim() };
  const [missing] = found;
  const after = line.slice(found.index + missing.length);
  return { line: line.slice(0, found.index) + MISSING + after, missing };
}

/** Puzzles in a game: lines in another order, or gaps in half of the lines, in place of the last number or word. */
export const posedIn =
  (game: Game<'solve'>): Pose =>
  ({ group, task }) => {
    const random = new Random(`puzzle/${group}`);
    const { steps } = game.reference!(task);
    const { complete, arrange } = game.also!;
    const family = (
      read: (text: string, speaker: Speaker) => ParseResult<readonly string[]>,
    ): TaskFamily => ({
      ...game.family,
      isUnlabelled: () => true,
      renderedBy: (renderer) => ({
        ...rendered(game.family, { renderer: () => renderer }),
        isUnlabelled: () => true,
        parseSolution: (_, text) => {
          const said = read(text, { renderer: () => renderer });
          return said.ok ? ok({ steps: said.value, answer: said.value.at(-1) ?? '' }) : said;
        },
      }),
    });
    if (random.bool()) {
      const about = { task, lines: random.shuffle(steps) };
      return {
        kind: 'sort',
        parts: steps,
        places: steps.map((_, place) => place),
        prompt: (speaker) => arrange!.ask(about, speaker),
        family: family((text, speaker) => arrange!.read(text, about, speaker)),
      };
    }
    const hidden = random.shuffle(steps.map((_, place) => place)).slice(0, Math.ceil(steps.length / 2));
    const lines = steps.map((line, place) =>
      hidden.includes(place) ? gapped(line) : { line, missing: null },
    );
    const parts = lines.flatMap(({ missing }) => missing ?? []);
    const about = { task, lines: lines.map(({ line }) => line) };
    return {
      kind: 'fill',
      parts,
      places: parts.map((_, place) => place),
      prompt: (speaker) => complete!.ask(about, speaker),
      family: family((text, speaker) => complete!.read(text, about, speaker)),
    };
  };

/** Puzzles on chains, to which the whole solution is the answer. */
export const posedOnChains: Pose = (group) => {
  const puzzle = puzzleOf(group);
  return {
    ...puzzle,
    parts: referenceSolution(group.task).steps,
    prompt: () => puzzlePrompt(group.task, puzzle),
    family: arithmetic,
  };
};

/** The puzzle of a group. */
export const puzzleOf = ({ group, task }: Pick<AdmittedTask, 'group' | 'task'>): Puzzle =>
  puzzleFrom(new Random(`puzzle/${group}`), task);

/** The share of the steps in question that are as in the target, which is a list of all steps. */
export const puzzleScore = (
  { places }: Pick<Puzzle, 'places'>,
  { steps }: Pick<Solution, 'steps'>,
  target: readonly string[],
): number => mean(places.map((place) => Number(steps[place] === target[place])));

/** Pays a puzzle by the parts of the worked solution; `random-targets` by these parts in an order that is drawn for the group. */
const puzzleReward = ({ parts, places }: Posed, variant?: string): AnswerReward => ({
  ...rewards.exact,
  pay: ({ group, solutions }) => {
    const target = variant === 'random-targets' ? new Random(`target/${group.group}`).shuffle(parts) : parts;
    return solutions.map((solution) => (solution.ok ? puzzleScore({ places }, solution.value, target) : 0));
  },
});

export async function rollOutStage(
  family: TaskFamily,
  pose: Pose,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  if (!hasPuzzles(round)) return rollOut({ family }, context, tasks);
  const samples = await samplePrompts(
    context,
    SOLVER,
    tasks.map((task) => {
      const posed = pose(task);
      const own = rendered(posed.family, context);
      return {
        prompt: posed.prompt(context),
        sampleIds: rolloutIds(task.group, SOLVER, round.settings.groupSize),
        parse: (text) => own.parseSolution(task.task, text),
      };
    }),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

export function payStage(
  family: TaskFamily,
  pose: Pose,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): ScoredGroup[] {
  const { rewardFunction, variant } = context.round.settings;
  const reward = rewardNamed<AnswerReward>(rewards, rewardFunction);
  return groups.map((group) => {
    if (!hasPuzzles(context.round)) return payAnswers(family, reward, context, group);
    const posed = pose(group);
    return payAnswers(
      posed.family,
      rewardFunction === 'exact' ? puzzleReward(posed, variant) : reward,
      context,
      group,
    );
  });
}
