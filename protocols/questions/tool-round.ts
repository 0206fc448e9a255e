/**
 * The shape of round over questions in which a policy may use tools before it answers: each rollout is an episode, whose turns are calls of tools and, at the end,
 * the answer, which the checker pays on all turns. The mesh carries the tools out itself, in the stage that samples.
 */
import { extractAnswer } from '../../core/checkers/extract.ts';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { playSeats } from '../../core/episodes/play-seats.ts';
import type { DrawingContext } from '../../core/game/game.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe, RoundShape } from '../../core/recipe/recipe.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { Message } from '../../core/renderer/message.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type CallStyle, callStyle, parseCalls } from '../../core/serving/tool-calls.ts';
import { questionsHash, tallyOf } from '../../core/statistics/change.ts';
import type { FileTask } from '../../worlds/file/task.ts';
import { checkAnswer } from '../../worlds/questions/check-answer.ts';
import { drawQuestions } from '../../worlds/questions/draw.ts';
import { readTask, writeTask } from '../../worlds/questions/task-text.ts';
import { withEpisodeRewards } from '../episode-credit.ts';
import { sealedGold } from '../gold.ts';
import { SOLVER } from '../solver.ts';
import { type Questions, questionRound } from './round.ts';
import { carriedOut, described, type ToolName } from './tools.ts';

/** Turns of an episode at most, the answer included, where nobody says otherwise. */
export const USUAL_TOOL_TURNS = 4;
/** Calls of one turn that are carried out; of the others the policy is told so. */
const MOST_CALLS = 4;

/** Which tools a policy may use, and in how many turns. */
export interface ToolUse {
  readonly names: readonly ToolName[];
  readonly turns: number;
}

/** An episode: what the policy reads next, null at the end, and the answer that it ended with. */
interface Working {
  readonly reads: readonly Message[] | null;
  readonly answer: { readonly text: string; readonly ended: boolean } | null;
}

/** How the policy writes calls. Throws `serving.tools` where its chat template knows no tools. */
async function styleOf(
  context: Pick<RoundContext, 'textOf'>,
  names: readonly ToolName[],
  task: Pick<FileTask, 'messages'>,
): Promise<CallStyle> {
  const { renderer } = await context.textOf(SOLVER);
  return callStyle(renderer(), task.messages, described(names));
}

/** What a turn is: calls of tools, or the answer. */
const turnOf = (text: string, ended: boolean, style: CallStyle) =>
  ended ? parseCalls(text, style, true).calls : [];

/** Plays an episode about each task. */
async function play(
  context: RoundContext,
  { extract }: Pick<Questions, 'extract'>,
  { names, turns }: ToolUse,
  beginnings: readonly { readonly id: string; readonly task: FileTask }[],
  temperature?: number,
) {
  const [first] = beginnings;
  const style = first ? await styleOf(context, names, first.task) : 'json';
  return playSeats<Working>(
    context,
    beginnings.map(({ id, task }) => ({
      seats: { [SOLVER]: { role: SOLVER, id } },
      world: { reads: task.messages, answer: null },
    })),
    {
      maxTurns: turns,
      tools: described(names),
      ...(temperature === undefined ? {} : { sampling: { temperature } }),
      next: ({ reads }) => (reads ? [{ seat: SOLVER, reads }] : []),
      answer: (_, [written]) => {
        const renderer = written!.speaker.renderer();
        const { text, ended } = renderer.readText(written!.text);
        const calls = turnOf(text, ended, style);
        if (calls.length === 0) {
          const outcome: Outcome = extractAnswer(text, extract).ok ? 'ok' : 'off-grammar';
          return { world: { reads: null, answer: { text, ended } }, outcomes: [outcome] };
        }
        const results = calls.map((call, c) =>
          c < MOST_CALLS ? carriedOut(names, call) : `At most ${MOST_CALLS} calls are carried out at once.`,
        );
        const reads = results.map((result): Message => {
          // A program may write anything, the border of a message too.
          const content = renderer.holdsControl(result)
            ? 'The result holds a token that separates messages, and is left out.'
            : result;
          return { role: 'tool', content };
        });
        return { world: { reads, answer: null }, outcomes: ['ok'] };
      },
    },
  );
}

async function rollOut(
  questions: Questions,
  use: ToolUse,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { groupSize } = context.round.settings;
  const played = await play(
    context,
    questions,
    use,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: groupSize }, (_, i) => ({
        id: rolloutId(group, SOLVER, i),
        task: readTask(task),
      })),
    ),
  );
  return tasks.map((task, t) => ({
    round: context.round.id,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
  }));
}

/** The group with what its answers earn. An episode that ends with a call has no answer. */
async function pay(
  { checker, extract }: Questions,
  { names }: ToolUse,
  context: RoundContext,
  group: RolloutGroup,
): Promise<ScoredGroup> {
  const task = readTask(group.task);
  const check = checker.prepare(task);
  const style = await styleOf(context, names, task);
  const rated = episodesOf(group.samples).map((turns) => {
    const last = turns.at(-1)!;
    const read = context.renderer().read(last.prompt, last.ids);
    const isCall = turnOf(read.text, read.ended, style).length > 0;
    const exact = !isCall && checkAnswer(read, check, extract).outcome === 'right';
    return { turns, rewards: { reward: Number(sealedGold(context, exact)()) }, exact };
  });
  return withEpisodeRewards(group, rated);
}

/** What the figures of an evaluation mean. */
export const TOOL_FIGURES = {
  turns: 'Mean number of turns in an episode, the answer included, of greedy ones in an evaluation.',
  calls: 'Share of the episodes in which a tool was called, of greedy ones in an evaluation.',
  tokens: 'Mean number of tokens that the policy writes in an episode, of greedy ones in an evaluation.',
} as const;

const EXAMINED = 500;

async function examine(questions: Questions, use: ToolUse, context: EvaluationContext): Promise<Evaluation> {
  const { tasks, checker, extract, temperature = 1, examined = EXAMINED } = questions;
  const asked = tasks.heldOut.slice(0, Math.min(examined, context.evaluationTasks.most));
  const right = async (name: string, at: number) => {
    const beginnings = asked.map((task, i) => ({ id: deriveId('tools', name, i), task }));
    const played = await play(context, questions, use, beginnings, at);
    const won = played.map(({ world: { answer } }, i) =>
      answer ? checkAnswer(answer, checker.prepare(asked[i]!), extract).outcome === 'right' : false,
    );
    return { played, won };
  };
  const [greedy, sampled] = [await right('greedy', 0), await right('sampled', temperature)];
  const share = (won: readonly boolean[]) => mean(won.map(Number));
  const turns = greedy.played.map((episode) => episode.turns);
  return evaluation(
    {
      n: asked.length,
      questions: questionsHash(asked.map(writeTask)),
      accuracy: share(greedy.won),
      sampled: share(sampled.won),
      tallies: { accuracy: tallyOf(greedy.won), sampled: tallyOf(sampled.won) },
    },
    {
      turns: mean(turns.map(({ length }) => length)),
      calls: mean(turns.map(({ length }) => Number(length > 1))),
      tokens: mean(turns.map((of: readonly Sample[]) => of.reduce((sum, { ids }) => sum + ids.length, 0))),
    },
  );
}

/** `count`: how many tasks a round draws. */
export function toolRound(
  questions: Questions,
  use: ToolUse,
  count = (settings: RunSettings): number => settings.tasks,
): RoundShape & Pick<Recipe, 'bindings'> {
  const { tasks, maxNew } = questions;
  return {
    ...questionRound({ ...questions, rewards: {} }),
    rewards: {
      checker: { description: '1 for an episode whose answer the checker accepts, else 0', usesGold: true },
    },
    propose: async (context: DrawingContext) => {
      const drawn = await drawQuestions(context, {
        sources: tasks.sources,
        rooms: (task) => [
          {
            prompt: context.renderer().begin(readTask(task).messages, described(use.names)).text,
            tokens: maxNew,
          },
        ],
        count: count(context.round.settings),
        weightOf: context.weightOf,
      });
      // Refused at once where the policy knows no tools.
      if (drawn.tasks[0]) await styleOf(context, use.names, readTask(drawn.tasks[0].task));
      return drawn;
    },
    rollOut: (context, admitted) => rollOut(questions, use, context, admitted),
    judge: (context, groups) => Promise.all(groups.map((group) => pay(questions, use, context, group))),
    evaluate: (context) => examine(questions, use, context),
  };
}
