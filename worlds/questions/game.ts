/** Questions of files as a game: every verb is said once, in messages, so that any policy with a chat template can be asked. */

import type { Checker } from '../../core/checkers/checker.ts';
import { extractAnswer } from '../../core/checkers/extract.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { DrawingContext, Game, Speaker, TaskGate, Wording, Wordings } from '../../core/game/game.ts';
import {
  type AboutOf,
  aboutTexts,
  type Datum,
  type SearchStep,
  saidBy,
  type Verb,
} from '../../core/game/verbs.ts';
import { imagesAlone, imagesNamed, textOfShown } from '../../core/images/patches.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { shownQuestion } from '../../core/recipe/rubric.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import type { Message } from '../../core/renderer/message.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import { sidesOf, tasksHere, traitsOf } from '../file/stored-tasks.ts';
import { type FileTask, type PlacedTask, questionKey } from '../file/task.ts';
import { saidInMessages } from '../message-family.ts';
import { drawQuestions, fittingIn, type Room } from './draw.ts';
import { type QuestionSet, questionFamily } from './family.ts';
import { answerForm } from './form.ts';
import { documentsOf, libraryOf } from './library.ts';
import { needsIn, needsOf } from './needs.ts';
import { conversationOf, filled, type Known, PROMPTS, type Prompt } from './prompts.ts';
import { pathIn, readTask, writeExamined, writeProposed, writeTask } from './task-text.ts';
import { hopedOf, temptationOf } from './temptation.ts';
import { sentencesOf, type Texts } from './texts.ts';

/** What is known about a question in the wordings of a generator; the reason where it is not one of the generator's questions. */
export type ParseProposal = (question: string) => ParseResult<{
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isHeldOut: boolean;
}>;

export interface GameQuestions extends QuestionSet {
  /** Computes the answers to questions that a policy writes; by default these are not known. */
  readonly parseProposal?: ParseProposal | undefined;
  readonly texts?: Texts | undefined;
}

/** The lines of a worked solution, which are its steps. */
const linesOf = (solution: string): string[] => solution.split('\n').filter((line) => line.trim() !== '');

/** Of fewer pictures nobody can say what is odd in their order. */
const FEWEST_FRAMES = 3;

/** What a question has, for each datum that some questions have and others have not. */
const HAS: Readonly<Partial<Record<Datum, (task: FileTask) => boolean>>> = {
  // A question that its checker cannot decide is refused when the file is read.
  answer: () => true,
  // An answer in a text is looked for by what the files name, or in a box.
  mark: () => true,
  solution: ({ solution = '' }) => solution.trim() !== '',
  steps: ({ solution = '' }) => linesOf(solution).length > 1,
  documents: (task) => documentsOf(task).length > 0,
  users: (task) => needsIn(task) !== null,
  hopes: (task) => hopedOf(task, '') !== null,
  pictures: ({ messages }) => {
    const [first, second] = imagesNamed(messages.at(-1)!.content);
    return second !== undefined && first!.image !== second.image;
  },
  frames: ({ messages }) => imagesNamed(messages.at(-1)!.content).length >= FEWEST_FRAMES,
};

/** What every question of a set has beside the question itself. */
export const dataOf = (tasks: readonly FileTask[]): Datum[] =>
  (Object.keys(HAS) as Datum[]).filter((datum) => tasks.every((task) => HAS[datum]!(task)));

/** The first question that lacks something of what is needed; null where all have everything. */
export function firstLack(
  needed: readonly Datum[],
  tasks: readonly PlacedTask[],
): { readonly datum: Datum; readonly task: PlacedTask } | null {
  for (const datum of needed) for (const task of tasks) if (!HAS[datum]?.(task)) return { datum, task };
  return null;
}

/** The question in place of the last message of the example, so that a system message before it stays, and so do the images that it is about. */
function newTask(
  written: string,
  like: string,
  parseProposal: ParseProposal | undefined,
): ParseResult<string> {
  const { messages } = readTask(like);
  const asked = conversationOf(messages, imagesAlone(messages.at(-1)!.content) + written);
  if (!parseProposal) return ok(writeProposed(asked));
  const known = parseProposal(written);
  if (!known.ok) return known;
  const { answer, metadata } = known.value;
  return ok(writeTask({ messages: asked, answer, metadata, difficulty: null }));
}

/** What is told of a conversation to somebody who writes another question in the place of its last message. */
const LAST_IS_MEANT =
  '(The question is the last message. What was said before it stays, and is not written again.)';

const knownTo = (
  { checker, extract, parseProposal }: GameQuestions,
  { holdsControl }: ReturnType<Speaker['renderer']>,
): Known => {
  // Others may be shown the text, so nothing in it may look like the border of a message or like a picture, which nobody has.
  const passesForMore = (said: string): boolean => holdsControl(said) || imagesNamed(said).length > 0;
  const text = (written: string): ParseResult<string> => {
    const said = written.trim();
    return said === '' || passesForMore(said) ? invalid('off-grammar') : ok(said);
  };
  return {
    solution: (task) => readTask(task).solution ?? '',
    question: (task) => readTask(task).messages.at(-1)!.content,
    picture: (task, which) => {
      const shown = imagesNamed(readTask(task).messages.at(-1)!.content)[which];
      return shown ? textOfShown(shown) : '';
    },
    frames: (task) => imagesAlone(readTask(task).messages.at(-1)!.content),
    whole: (task) => shownQuestion(readTask(task).messages),
    example: (task) => {
      const said = readTask(task).messages.filter(({ role }) => role !== 'system');
      const shown = shownQuestion(said).trimEnd();
      return said.length === 1 ? shown : `${shown}\n\n${LAST_IS_MEANT}`;
    },
    answer: (written) => {
      const found = passesForMore(written) ? null : extractAnswer(written, extract);
      return found?.ok ? ok({ steps: [written], answer: found.value }) : invalid('off-grammar');
    },
    task: (written, like) => {
      const said = text(written);
      return said.ok ? newTask(said.value, like, parseProposal) : said;
    },
    examined: (question, answer, { like, begin, steps }) => {
      const [asked, told] = [text(question), text(answer)];
      if (!asked.ok || !told.ok) return invalid('off-grammar');
      // It is about something else than what was said before the example.
      const kept = like === null ? [] : readTask(like).messages.filter(({ role }) => role === 'system');
      const messages: Message[] = [...kept, { role: 'user', content: asked.value }];
      const first: SearchStep = { query: '', found: [begin], useful: null };
      const task = writeExamined(messages, told.value, [first, ...steps]);
      return canBeChecked(checker, task) ? ok(task) : invalid('off-grammar');
    },
    text,
  };
};

/** Whether a checker can compare answers with that of a task. */
function canBeChecked(checker: Checker, task: string): boolean {
  try {
    checker.prepare(readTask(task));
    return true;
  } catch (error) {
    if (error instanceof RollmeshError && error.code === 'answer.reference') return false;
    throw error;
  }
}

const taskOf = (about: AboutOf<Verb>): string | null =>
  'task' in about ? about.task : 'like' in about ? about.like : null;

/** How a verb is said on these questions. */
function wordingOf<V extends Verb>(questions: GameQuestions, verb: V): Wording<V> {
  const prompt: Prompt<V> = PROMPTS[verb];
  const text = questions.texts?.[verb] ?? prompt.text;
  const sentences = sentencesOf(verb, questions.texts);
  return {
    maxNew: questions.maxNew,
    ask: (about, speaker) => {
      const renderer = speaker.renderer();
      const task = prompt.alone ? null : taskOf(about);
      const content = filled(text, prompt.places(about, knownTo(questions, renderer), sentences));
      const conversation = conversationOf(task === null ? null : readTask(task).messages, content);
      return renderer.begin([...conversation, ...(prompt.after?.(about, sentences) ?? [])]).text;
    },
    read: (written, about, speaker) => {
      const renderer = speaker.renderer();
      return prompt.read(renderer.readText(written).text, about, knownTo(questions, renderer));
    },
  };
}

export const VERBS = Object.keys(PROMPTS) as readonly Verb[];

/** The prompts that a question leads to in a recipe that says these verbs, with the tokens that are written after and into each. */
const roomsOf =
  (words: Wordings<Verb>, verbs: readonly Verb[], maxNew: number, speaker: Speaker) =>
  (task: string): Room[] =>
    verbs.map((verb) => {
      const about = aboutTexts(verb, task, '', readTask(task).solution);
      const prompt = (words[verb] as Wording<Verb>).ask(about, speaker);
      return { prompt, tokens: ((PROMPTS[verb].shown ?? 0) + 1) * maxNew };
    });

/** The questions as a game for a recipe that needs this of them. */
export function questionGame(questions: GameQuestions, needs: Parameters<typeof saidBy>[0]): Game {
  const { tasks, maxNew, parseProposal } = questions;
  const words = Object.fromEntries(
    VERBS.map((verb) => [verb, wordingOf(questions, verb)]),
  ) as unknown as Wordings<Verb>;
  const family = questionFamily(questions, words);
  const traits = traitsOf(tasks);
  const all = traits ? [] : tasksHere(tasks);
  const rooms = (context: RoundContext) => roomsOf(words, saidBy(needs), maxNew, context);
  const isReserved = (task: string): boolean => {
    const read = parseProposal?.(readTask(task).messages.at(-1)!.content);
    return read?.ok === true && read.value.isHeldOut;
  };
  // A library is of the documents of all questions.
  const library = traits ? undefined : libraryOf([...all, ...tasks.heldOut]);
  return {
    family,
    words,
    also: words,
    ...(library && { library }),
    examination: {
      path: pathIn,
      answer: (task) => readTask(task).answer,
      accepts: (task, { answer }) => {
        const verdict = questions.checker.prepare(readTask(task))(answer);
        return verdict.ok && verdict.value;
      },
    },
    temptation: temptationOf,
    frames: (task) => imagesNamed(readTask(task).messages.at(-1)!.content).map(textOfShown),
    needsOf: needsOf({ ...questions, answerIsExact: family.answerIsExact }),
    data: traits?.data ?? dataOf(all),
    byExample: true,
    form: answerForm(questions.extract),
    tests: (asked) => family.heldOut(asked),
    blank: writeProposed([{ role: 'user', content: '' }]),
    tasks: (context: DrawingContext, count = context.round.settings.tasks) =>
      drawQuestions(context, {
        sources: tasks.sources,
        rooms: rooms(context),
        count,
        weightOf: context.weightOf,
      }),
    fitting: (context) => fittingIn(context, rooms(context)),
    gate: async (context): Promise<TaskGate> => {
      const { fits } = fittingIn(context, rooms(context));
      const { isTrained, isHeldOut } = await sidesOf(context.readStored, tasks);
      const seen = new Set<string>();
      return {
        isHeldOut: (task) => isHeldOut(readTask(task)) || isReserved(task),
        // A question that is in the files or came before in the round is a duplicate.
        refuse: (task): InvalidOutcome | null => {
          const read = readTask(task);
          const key = questionKey(read);
          if (isTrained(read) || seen.has(key)) return 'duplicate';
          seen.add(key);
          return fits(task) ? null : 'too-long';
        },
      };
    },
    reference: (task) => {
      const { solution = '', answer } = readTask(task);
      return { steps: linesOf(solution), answer };
    },
    question: (task) => readTask(task).messages.at(-1)!.content,
    write: ({ steps }) => steps.join('\n'),
    reasoning: {
      // The last line states the answer.
      lines: ({ steps }) => steps.flatMap(linesOf).slice(0, -1),
      write: (lines) => lines.join('\n'),
    },
    said: saidInMessages,
  };
}
