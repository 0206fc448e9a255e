/**
 * An examiner: it is given something to begin with, searches documents, and writes a task about what it found, with an answer of its own. What it found goes with the task. No
 * oracle is asked: a task is admitted where its answer stands in what was found and the question does not give it away.
 */
import { episodesOf } from '../core/episodes/play-episodes.ts';
import { playSeats } from '../core/episodes/play-seats.ts';
import type { Examined, Game, Speaker } from '../core/game/game.ts';
import type { AboutOf } from '../core/game/verbs.ts';
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { admit } from '../core/round/admit.ts';
import { proposalId } from '../core/round/sample-ids.ts';
import type { Outcome } from '../core/schema/outcome.ts';
import type { Proposals, Sample } from '../core/schema/sample.ts';
import { mentions } from '../core/text/mentions.ts';
import { libraryOf } from './searcher.ts';

export const EXAMINER = 'examiner';

export type ExamGame = Pick<
  Game<'examine'>,
  'words' | 'gate' | 'tasks' | 'byExample' | 'library' | 'question' | 'examination'
>;

interface Exam extends Pick<AboutOf<'examine'>, 'like' | 'begin' | 'steps'> {
  readonly task: string | null;
  readonly isOver: boolean;
}

export function examinedOf({ examination }: Pick<Game, 'examination'>): Examined {
  if (examination) return examination;
  throw new Error('internal: an examiner plays in a game without examiners');
}

function after(
  game: ExamGame,
  speaker: Speaker,
  searches: number,
  exam: Exam,
  text: string,
): { readonly exam: Exam; readonly outcome: Outcome } {
  const { steps } = exam;
  const last = steps.length >= searches;
  const said = game.words.examine.read(text, { ...exam, last }, speaker);
  if (!said.ok) return { exam: { ...exam, isOver: true }, outcome: said.reason };
  if ('task' in said.value) return { exam: { ...exam, task: said.value.task, isOver: true }, outcome: 'ok' };
  if (last) return { exam: { ...exam, isOver: true }, outcome: 'no-question' };
  const { query } = said.value;
  const found = libraryOf(game).search(query);
  return { exam: { ...exam, steps: [...steps, { query, found, useful: null }] }, outcome: 'ok' };
}

/** Why a task is refused that an examiner wrote after some searches. */
function refusalOf(game: ExamGame, { steps }: Pick<Exam, 'steps'>, task: string): Outcome {
  const { answer, path } = examinedOf(game);
  const queries = steps.map(({ query }) => query);
  if (queries.length === 0) return 'no-search';
  if (new Set(queries).size < queries.length) return 'repeated-query';
  if (mentions(game.question(task), answer(task))) return 'gives-away';
  const found = path(task).flatMap((step) => step.found);
  return found.some((document) => mentions(document, answer(task))) ? 'ok' : 'unsupported';
}

/** As many episodes as the round has tasks, and a task for each that passes the gates, or a given one where none does. */
export async function examine(game: ExamGame, context: RoundContext, searches: number): Promise<Proposals> {
  const { round } = context;
  const random = new Random(`${round.id}/examine`);
  const begin = libraryOf(game).begin;
  if (!begin) throw new Error('internal: an examiner has nothing to begin with');
  const examples = game.byExample ? (await game.tasks(context)).tasks.map(({ task }) => task) : [];
  const exams = await playSeats(
    context,
    Array.from({ length: round.settings.tasks }, (_, i) => ({
      seats: { [EXAMINER]: { role: EXAMINER, id: proposalId(round.id, EXAMINER, i) } },
      world: {
        like: examples[i % examples.length] ?? null,
        begin: begin(random),
        steps: [],
        task: null,
        isOver: false,
      } as Exam,
    })),
    {
      maxTurns: searches + 1,
      next: ({ isOver, ...exam }) =>
        isOver
          ? []
          : [
              {
                seat: EXAMINER,
                reads: game.words.examine.ask({ ...exam, last: exam.steps.length >= searches }, context),
                anew: true,
              },
            ],
      answer: (exam, [written]) => {
        const told = after(game, context, searches, exam, written!.text);
        return { world: told.exam, outcomes: [told.outcome] };
      },
    },
  );
  const gate = await game.gate(context);
  const played = exams.map(({ world, turns }) => {
    const said = turns.at(-1)?.outcome ?? 'too-long';
    const { task } = world;
    const outcome: Outcome =
      said !== 'ok' || task === null
        ? said === 'ok'
          ? 'no-question'
          : said
        : gate.isHeldOut(task)
          ? 'held-out'
          : firstRefusal(refusalOf(game, world, task), () => gate.refuse(task) ?? 'ok');
    return { task, outcome, turns: withOutcome(turns, outcome) };
  });
  const admitted = played.flatMap(({ task, outcome, turns }) =>
    outcome === 'ok' && task !== null ? [{ task, proposal: turns[0]!.id }] : [],
  );
  // A round without tasks would fail: one that nobody examined takes their place, and nobody is paid for it.
  const given = admitted.length
    ? []
    : (await game.tasks(context, 1)).tasks.map(({ task }) => ({ task, proposal: null }));
  return {
    round: round.id,
    samples: played.flatMap(({ turns }) => turns),
    tasks: admit(round, [...admitted, ...given]),
  };
}

const firstRefusal = (own: Outcome, other: () => Outcome): Outcome => (own === 'ok' ? other() : own);

const withOutcome = (turns: readonly Sample[], outcome: Outcome): Sample[] =>
  turns.map((turn, t) => (t === turns.length - 1 ? { ...turn, outcome } : turn));

/** The episodes of the round's examiners, each with the number of its searches. */
export const examsOf = ({ samples }: Pick<Proposals, 'samples'>) =>
  episodesOf(samples.filter(({ role }) => role === EXAMINER)).map((turns) => ({
    turns,
    outcome: turns.at(-1)!.outcome,
    searches: turns.length - 1,
  }));
