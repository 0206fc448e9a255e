/** Rows of a file as tasks, every one of them checked: its fields, its reference answer, its difficulty. All faults are reported at once. */
import type { Checker } from '../../core/checkers/checker.ts';
import { type Extraction, extractAnswer } from '../../core/checkers/extract.ts';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Message } from '../../core/renderer/message.ts';
import { arithmetic, runningTotals } from '../arithmetic/family.ts';
import { expectShown, ImageFault, type ImageFields, type ReadBeside, withImageTexts } from './images.ts';
import { MessageFault, readMessages } from './messages.ts';
import { type Fault, fieldAt, type Row } from './row.ts';
import { type FileBytes, readRows } from './rows.ts';
import { type FileTask, type PlacedTask, TASK_FIELDS } from './task.ts';

export interface TaskFileSettings {
  readonly checker: Checker;
  /** Names of the file's own fields; default as they are listed. */
  readonly fields?: Partial<Record<(typeof TASK_FIELDS)[number], string>>;
  /** Put before a question as the system's message. */
  readonly system?: string;
  /** Where the reference answer is in the file’s answer: `hashes` for GSM8K, `boxed` for MATH; default the whole answer. */
  readonly reference?: readonly Extraction[];
  /** Field that says how hard a task is: a number, at the top of the row or in its metadata. */
  readonly difficulty?: string;
  /** Reads the files of images that lie beside the file of tasks; without it there are none. */
  readonly readBeside?: ReadBeside;
  /** Called with every line that is left out because the checker cannot read its reference; without it such a line is a fault of the file. */
  readonly leaveOut?: (fault: Fault & { readonly file: string }) => void;
}

/** Faults that an error lists; the others are counted. */
const SHOWN = 3;
/** Rows by which a hint is found where a file cannot be used. */
const HINTED = 1000;

/** Ends reading a row, with what is wrong with it. */
export class RowFault extends Error {}
/** The checker cannot read the reference. */
class ReferenceFault extends RowFault {}

/** Names of a row's first fields. */
export const fieldsOf = (row: Row['value']): string => Object.keys(row).slice(0, 8).join(', ') || 'nothing';

/** `{"task": "3+4-9"}` is a task of the arithmetic family: its own question, and the answer is the oracle's. */
function fromTask(row: Row['value']): Row['value'] {
  const { task, ...rest } = row;
  if (typeof task !== 'string' || row.question !== undefined || row.messages !== undefined) return row;
  if (!arithmetic.parseProposal(`${task}${arithmetic.stop}`).ok)
    throw new RowFault(
      `its task is ${JSON.stringify(task.slice(0, 40))}, which is not 2 to 6 digits joined by + or -, such as "3+4-9"`,
    );
  return { ...rest, question: task, answer: String(runningTotals(task).at(-1)) };
}

function messagesOf(
  row: Row['value'],
  { fields = {}, system }: TaskFileSettings,
  texts: Row['texts'],
): Message[] {
  const [question, messages] = [
    texts?.[fields.question ?? 'question'] ?? fieldAt(row, fields.question ?? 'question'),
    fieldAt(row, fields.messages ?? 'messages'),
  ];
  if ((question === undefined) === (messages === undefined)) {
    const [either, or] = question === undefined ? ['neither', 'nor'] : ['both', 'and'];
    throw new RowFault(
      `it has ${either} "${fields.question ?? 'question'}" ${or} "${fields.messages ?? 'messages'}"; its fields are ${fieldsOf(row)}`,
    );
  }
  const before: Message[] = system === undefined ? [] : [{ role: 'system', content: system }];
  if (question !== undefined) {
    if (typeof question !== 'string' || question.trim() === '') throw new RowFault('its question is no text');
    return [...before, { role: 'user', content: question }];
  }
  const conversation = readMessages(messages, 'messages');
  const last = conversation.at(-1)!;
  if (last.role !== 'user' && last.role !== 'tool')
    throw new RowFault(`its last message is the ${last.role}’s, so that nothing is left to answer`);
  return conversation[0]!.role === 'system' ? conversation : [...before, ...conversation];
}

/** Texts as they are, other values as JSON. */
export const writtenAnswer = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Checkers to which a list is one answer; to the others it is several, any of which is right. */
const LISTS = ['set', 'json-schema', 'expression', 'program', 'list-program'];

/** An object, or a list that has one or null in it: its JSON is no answer. */
const holdsNoAnswer = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((one) => one === null || holdsNoAnswer(one))
    : typeof value === 'object' && value !== null;

/** The answers of a list of texts or numbers; null where the value is no list of answers. */
export function acceptedAnswers(value: unknown, { name }: Pick<Checker, 'name'>): string[] | null {
  if (!Array.isArray(value) || value.length === 0 || LISTS.includes(name)) return null;
  const scalar = (one: unknown) => typeof one === 'string' || typeof one === 'number';
  return value.every(scalar) ? value.map(String) : null;
}

/** An index among the options, as MMLU has it, as their letter: as a text it could be another option's own. */
export function optionLetter(value: unknown, choices: unknown, { name }: Checker): string | null {
  const isIndex = typeof value === 'number' && Array.isArray(choices) && Number.isInteger(value);
  if (name !== 'choice' || !isIndex || value < 0 || value >= choices.length) return null;
  return String.fromCharCode('A'.charCodeAt(0) + value);
}

/** The reference answers: one, or a list of which any is right. */
function answersOf(
  row: Row['value'],
  metadata: Record<string, unknown>,
  { fields = {}, reference = ['whole'], checker }: TaskFileSettings,
  texts: Row['texts'],
): readonly string[] {
  const name = fields.answer ?? 'answer';
  const value = texts?.[name] ?? fieldAt(row, name);
  const letter = optionLetter(value, metadata.choices, checker);
  if (letter !== null) return [letter];
  if (Array.isArray(value) && value.length === 0 && !LISTS.includes(checker.name))
    throw new RowFault('its answer is an empty list, so that nothing is right');
  const accepted = acceptedAnswers(value, checker);
  const isRead = !LISTS.includes(checker.name) && !checker.readsMetadataAlone;
  if (accepted === null && isRead && holdsNoAnswer(value))
    throw new RowFault(
      Array.isArray(value)
        ? 'its answer is a list with something in it that is no text and no number'
        : `its answer is an object with the fields ${fieldsOf(value as Row['value'])}; --fields answer=${name}.FIELD names the one that is meant`,
    );
  const answers = accepted ?? [writtenAnswer(value)];
  return answers.map((text) => extracted(text, reference));
}

function extracted(text: string, reference: readonly Extraction[]): string {
  if (text === '') return '';
  const parsed = extractAnswer(text, reference);
  if (parsed.ok) return parsed.value;
  throw new RowFault(`its answer has no reference answer in it (${parsed.reason})`);
}

/** The field `solution`, or the whole answer of a row whose reference answer is a part of it; undefined where it has neither. */
function solutionOf(
  row: Row['value'],
  { fields = {}, reference }: TaskFileSettings,
  answer: string,
): string | undefined {
  const own = writtenAnswer(fieldAt(row, fields.solution ?? 'solution')).trim();
  if (own !== '') return own;
  const whole = writtenAnswer(fieldAt(row, fields.answer ?? 'answer')).trim();
  return reference && whole !== answer ? whole : undefined;
}

/** All fields that are not read here, and those of the field `metadata`. */
function metadataOf(row: Row['value'], { fields = {} }: TaskFileSettings): Record<string, unknown> {
  const own = row[fields.metadata ?? 'metadata'] ?? {};
  if (typeof own !== 'object' || Array.isArray(own)) throw new RowFault('its metadata is no object');
  const taken = new Set(TASK_FIELDS.map((field) => fields[field] ?? field));
  const rest = Object.entries(row).filter(([field]) => !taken.has(field));
  return { ...Object.fromEntries(rest), ...own };
}

function difficultyOf(metadata: Record<string, unknown>, field: string | undefined): number | null {
  if (field === undefined) return null;
  const value = metadata[field];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new RowFault(
    `its difficulty "${field}" is ${JSON.stringify(value) ?? 'missing'}, which is no number`,
  );
}

function taskOf({ value: given, texts }: Row, settings: TaskFileSettings): FileTask {
  const row = fromTask(given);
  const { tools } = row;
  if (typeof tools === 'string' ? /^\s*\[\s*\{/.test(tools) : Array.isArray(tools) && tools.length > 0)
    throw new RowFault('its "tools" are not shown to the policy, so leave the column out');
  const own = metadataOf(row, settings);
  const answers = answersOf(row, own, settings, texts);
  const metadata = answers.length > 1 ? { ...own, accepted: answers } : own;
  const answer = answers[0]!;
  const solution = solutionOf(row, settings, answer);
  const task = {
    messages: messagesOf(row, settings, texts),
    answer,
    ...(solution === undefined ? {} : { solution }),
    metadata,
    difficulty: difficultyOf(metadata, settings.difficulty),
  };
  const { checker } = settings;
  try {
    checker.prepare(task);
  } catch (error) {
    if (!(error instanceof RollmeshError && error.kind === 'wrong-input')) throw error;
    const { answer: field = 'answer' } = settings.fields ?? {};
    const lacks =
      fieldAt(row, field) === undefined && !checker.readsMetadataAlone
        ? `it has no "${field}", its fields are ${fieldsOf(row)}: `
        : '';
    throw new ReferenceFault(
      `${lacks}${error.what.replace(/\.$/, '')}; expected ${error.expected ?? 'another answer'}`,
    );
  }
  const fault = checker.faultOf?.(task) ?? null;
  if (fault !== null) throw new ReferenceFault(fault);
  return task;
}

const TASK = 'an object like {"question": "…", "answer": "…", "metadata": {…}} on every line';

/**
 * All tasks of a file, in its order.
 *
 * @throws RollmeshError `tasks.lines` with the number and the fault of the lines that are wrong (the first three in words), `tasks.empty`,
 * or the errors of a file that cannot be read at all.
 */
export const readTasks = (
  name: string,
  bytes: FileBytes,
  settings: TaskFileSettings,
): Promise<PlacedTask[]> =>
  readEach(
    name,
    bytes,
    (row) => taskOf(row, settings),
    TASK,
    { ...settings, imageFields: imageFieldsOf(settings.fields) },
    (rows) => hintOf(rows, settings),
  );

const imageFieldsOf = (fields: TaskFileSettings['fields'] = {}): ImageFields => ({
  texts: [fields.question ?? 'question'],
  prompts: [fields.messages ?? 'messages'],
  image: fields.image ?? 'image',
  images: fields.images ?? 'images',
});

const isFault = (error: unknown): error is Error =>
  error instanceof RowFault || error instanceof MessageFault || error instanceof ImageFault;

/** How the rows of a file are read, whatever they are. */
interface EachSettings extends Pick<TaskFileSettings, 'leaveOut' | 'readBeside'> {
  readonly imageFields: ImageFields;
}

/** Every row of a file by `make`, which throws RowFault for one that is wrong. `expected`: what a row should be. Throws as `readTasks`. */
export async function readEach(
  name: string,
  bytes: FileBytes,
  make: (row: Row) => FileTask,
  expected: string,
  { leaveOut, readBeside, imageFields }: EachSettings,
  hint: (rows: readonly Row['value'][]) => string | undefined = () => undefined,
): Promise<PlacedTask[]> {
  const wrong: Fault[] = [];
  const tasks: PlacedTask[] = [];
  const first: Row['value'][] = [];
  for await (const { rows, faults } of readRows(name, bytes)) {
    for (const fault of faults) wrong.push(fault);
    first.push(...rows.slice(0, HINTED - first.length).map(({ value }) => value));
    for (const row of rows)
      try {
        const { row: shown, images } = await withImageTexts(row, imageFields, readBeside);
        const task = make(shown);
        expectShown(task, images);
        tasks.push({ ...task, file: name, line: row.line });
      } catch (error) {
        if (!isFault(error)) throw error;
        const { line } = row;
        if (leaveOut && error instanceof ReferenceFault) leaveOut({ file: name, line, what: error.message });
        else wrong.push({ line, what: error.message });
      }
  }
  if (wrong.length) throw faultsError(name, wrong, expected, hint(first));
  if (tasks.length) return tasks;
  throw wrongInput('tasks.empty', `The file ${name} has no tasks.`, { expected: 'at least one' });
}

/** What other collections call a question and its answer. */
const QUESTION_NAMES = ['prompt', 'problem', 'query', 'instruction', 'input'];
const ANSWER_NAMES = [
  'solution',
  'target',
  'output',
  'response',
  'final_answer',
  'ground_truth',
  'gold',
  'label',
];
/** How a solution of GSM8K ends. */
const HASHES = /####\s*\S/;

/** The flag with which the rows could be read, where their fields or their answers are of a known form; undefined where they are not. */
function hintOf(
  rows: readonly Row['value'][],
  { fields = {}, reference }: TaskFileSettings,
): string | undefined {
  const every = (name: string) => rows.length > 0 && rows.every((row) => fieldAt(row, name) !== undefined);
  const other = (name: string, names: readonly string[]) => (every(name) ? undefined : names.find(every));
  const question = every(fields.messages ?? 'messages')
    ? undefined
    : other(fields.question ?? 'question', QUESTION_NAMES);
  const answer = other(fields.answer ?? 'answer', ANSWER_NAMES);
  const renamed = [question && `question=${question}`, answer && `answer=${answer}`].filter(Boolean);
  const hashes =
    reference === undefined &&
    rows.length > 0 &&
    rows.every((row) => HASHES.test(String(fieldAt(row, answer ?? fields.answer ?? 'answer'))));
  const flags = [
    ...(renamed.length ? [`--fields ${renamed.join(',')}`] : []),
    ...(hashes ? ['--reference hashes'] : []),
  ];
  if (!flags.length) return undefined;
  return `${hashes ? 'The answers look like those of GSM8K' : 'The rows have other fields'}: add ${flags.join(' ')}.`;
}

function faultsError(name: string, faults: readonly Fault[], expected: string, hint: string | undefined) {
  const sorted = [...faults].sort((a, b) => a.line - b.line);
  const lines = sorted.slice(0, SHOWN).map(({ line, what }) => `line ${line}: ${what}`);
  const more = sorted.length > SHOWN ? [`and ${sorted.length - SHOWN} more`] : [];
  const count = sorted.length === 1 ? 'A line' : `${sorted.length} lines`;
  return wrongInput('tasks.lines', `${count} of ${name} cannot be used: ${[...lines, ...more].join('; ')}.`, {
    expected,
    next: hint ?? 'Correct the file; nothing was trained on it.',
  });
}
