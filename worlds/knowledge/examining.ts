/**
 * The world of one-line documents for examiners, who are given a name and search backwards from it to a question whose answer it is, and for searchers of their questions. A task
 * that an examiner wrote is a question with that name and all that led to it; other tasks are questions alone.
 */
import * as v from 'valibot';
import type { Game, Wordings } from '../../core/game/game.ts';
import type { SearchStep } from '../../core/game/verbs.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { refuseRepeated } from '../../core/round/admit.ts';
import { answerOf, supports, theWorld, writeFindings, writeNotes } from './episode.ts';
import { ANSWER_KINDS, MAX_SEARCHES, parseProposerTurn, proposerPrompt, writeSearch } from './proposal.ts';
import { searching } from './searching.ts';
import type { Kind } from './world.ts';

const schema = v.object({
  question: v.string(),
  answer: v.string(),
  path: v.array(v.object({ query: v.string(), found: v.array(v.string()), useful: v.null() })),
});
const read = (task: string) => v.parse(schema, JSON.parse(task));
const questionOf = (task: string): string => (task.startsWith('{') ? read(task).question : task);

/** An assignment as text: the kind of the answer, the answer, and how many searches are to be made. */
const writeBegin = (kind: Kind, answer: string, searches: number): string => `${kind} ${answer} ${searches}`;
function readBegin(text: string): { kind: Kind; answer: string; searches: number } {
  const [kind, answer, searches] = text.split(' ') as [Kind, string, string];
  return { kind, answer, searches: Number(searches) };
}

const told = (steps: readonly SearchStep[]): string =>
  steps.map(({ query, found }) => writeSearch(query) + writeFindings(found)).join('');

/** Longest question in tokens, its end included. */
const QUESTION_TOKENS = 58;

const { family, words, library } = searching;

const examWords: Wordings<'examine' | 'recall'> = {
  examine: {
    maxNew: QUESTION_TOKENS,
    ask: ({ begin, steps }) => {
      const { kind, answer, searches } = readBegin(begin);
      return proposerPrompt(answer, kind, searches) + told(steps);
    },
    read: (text, { begin, steps }) => {
      const turn = parseProposerTurn(text);
      if (!turn.ok) return turn;
      if (turn.value.kind === 'search') return ok({ query: turn.value.text });
      const { answer } = readBegin(begin);
      const question = turn.value.text;
      const documents = steps.flatMap(({ found }) => found);
      if (steps.length && !supports(documents, question, answer)) return invalid('unsupported');
      return ok({ task: JSON.stringify({ question, answer, path: steps }) });
    },
  },
  /** The documents of the path, or the answer, are told as notes before the question. */
  recall: {
    maxNew: words.search.maxNew,
    ask: ({ task, steps, last, path, answer }, speaker) => {
      // An examiner searched from the last document to the first.
      const known = answer === null ? [...path].reverse().flatMap(({ found }) => found) : [answer];
      return writeNotes(known) + words.search.ask({ task: questionOf(task), steps, last }, speaker);
    },
    read: (text, about, speaker) =>
      words.search.read(text, { ...about, task: questionOf(about.task) }, speaker),
  },
};

export const examining: Game<'search' | 'examine' | 'recall'> = {
  ...searching,
  family: {
    ...family,
    solverPrompt: (task) => family.solverPrompt(questionOf(task)),
    isHeldOut: (task) => family.isHeldOut(questionOf(task)),
    difficulty: (task) => family.difficulty(questionOf(task)),
    answerIsExact: (task, { answer }) => answer === answerOf(theWorld(), questionOf(task)),
    exactJudgment: (task, { answer }) => ({
      steps: [],
      right: answer === answerOf(theWorld(), questionOf(task)),
    }),
  },
  words: {
    ...examWords,
    search: {
      ...words.search,
      ask: (about, speaker) => words.search.ask({ ...about, task: questionOf(about.task) }, speaker),
    },
  },
  gate: () => ({
    isHeldOut: (task) => family.isHeldOut(questionOf(task)),
    refuse: refusesRepeated(),
  }),
  library: {
    ...library!,
    hold: (documents, task) => library!.hold(documents, questionOf(task)),
    plant: (random, task) => library!.plant(random, questionOf(task)),
    begin: (random) => {
      const kind = random.pick(ANSWER_KINDS);
      return writeBegin(kind, random.pick(theWorld().world.names[kind]), 1 + random.int(MAX_SEARCHES));
    },
  },
  examination: {
    path: (task) => read(task).path,
    answer: (task) => read(task).answer,
    accepts: (task, { answer }) => answer === read(task).answer,
  },
  question: questionOf,
};

/** A question that another of the round asks already is refused, whatever led to it. */
function refusesRepeated() {
  const refuse = refuseRepeated();
  return (task: string) => refuse(questionOf(task));
}
