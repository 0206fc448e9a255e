/**
 * A rubric: what a policy that judges is asked about an answer, and how its grade is read. The messages are templates in which
 * `{{question}}`, `{{response}}` and `{{reference}}` stand for the question, the answer that is judged, and the reference answer. A
 * rubric that does not name the reference judges without gold.
 */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { type Message, message } from '../renderer/message.ts';
import { nearest } from '../text/nearest.ts';

const finite = v.pipe(v.number(), v.finite());
const tag = v.exactOptional(
  v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/, 'Expected a name such as grade')),
);

/** Where the grade stands, and what it is worth. Without `tag` the whole text is the grade. */
const grade = v.union(
  [
    /** A number within bounds, which are worth 0 and 1. */
    v.strictObject({ tag, from: finite, to: finite }),
    /** One of some words, each with its worth; case does not matter. */
    v.strictObject({
      tag,
      grades: v.pipe(
        v.record(v.string(), finite),
        v.check((grades) => Object.keys(grades).length > 0, 'Expected at least one grade'),
      ),
    }),
  ],
  'Expected {"tag": …, "from": 0, "to": 10} or {"tag": …, "grades": {"good": 1, "poor": 0}}',
);

export const rubric = v.strictObject({
  messages: v.pipe(v.array(message), v.minLength(1)),
  grade,
  /** Longest judgment in tokens, its end included. */
  maxNew: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), 64),
  /** 0 = the most likely judgment. */
  temperature: v.optional(v.pipe(finite, v.minValue(0)), 0),
});
export type Rubric = v.InferOutput<typeof rubric>;

const FIELDS = ['question', 'response', 'reference'] as const;
type Field = (typeof FIELDS)[number];

const PLACE = /\{\{\s*(\w+)\s*\}\}/g;

const fieldsOf = ({ messages }: Pick<Rubric, 'messages'>): string[] =>
  messages.flatMap(({ content }) => [...content.matchAll(PLACE)].map(([, name]) => name!));

/** Does the judge see the reference answer? */
export const usesReference = (given: Pick<Rubric, 'messages'>): boolean =>
  fieldsOf(given).includes('reference');

/** Does the judge see the question? */
export const usesQuestion = (given: Pick<Rubric, 'messages'>): boolean =>
  fieldsOf(given).includes('question');

/** Parses a rubric file. `from`: its path, for the message. Throws `rubric.invalid`, `rubric.field`. */
export function parseRubric(text: string, from: string): Rubric {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw wrongInput('rubric.invalid', `The rubric ${from} is no JSON: ${(cause as Error).message}.`, {
      cause,
    });
  }
  const parsed = v.safeParse(rubric, value);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw wrongInput(
      'rubric.invalid',
      `The rubric ${from} is wrong at ${v.getDotPath(issue) ?? 'its root'}: ${issue.message}.`,
      { expected: 'messages, a grade, and if you like maxNew and temperature' },
    );
  }
  expectFields(parsed.output, from);
  return parsed.output;
}

function expectFields(given: Rubric, from: string): void {
  const fields = fieldsOf(given);
  const unknown = fields.find((name) => !FIELDS.some((known) => known === name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, FIELDS);
    throw wrongInput('rubric.field', `The rubric ${from} names {{${unknown}}}.`, {
      expected: `${meant === undefined ? '' : `{{${meant}}}, perhaps, or `}one of ${FIELDS.map((name) => `{{${name}}}`).join(', ')}`,
    });
  }
  if (!fields.includes('response'))
    throw wrongInput('rubric.field', `The rubric ${from} does not show the judge what it is to judge.`, {
      expected: '{{response}} in one of its messages',
    });
  if (given.messages.at(-1)!.role !== 'user')
    throw wrongInput(
      'rubric.invalid',
      `The rubric ${from} ends with a message of the ${given.messages.at(-1)!.role}.`,
      {
        expected: 'a message of the user at its end, which the judge answers',
      },
    );
  if ('from' in given.grade && !(given.grade.from < given.grade.to))
    throw wrongInput(
      'rubric.invalid',
      `The rubric ${from} has grades from ${given.grade.from} to ${given.grade.to}.`,
      {
        expected: 'a first bound that is less than the second',
      },
    );
}

/** The messages to a judge. What is filled in is not read for placeholders again: an answer cannot name the reference. */
export const fillRubric = (
  { messages }: Pick<Rubric, 'messages'>,
  values: Readonly<Record<Field, string>>,
): Message[] =>
  messages.map((one) => ({
    ...one,
    content: one.content.replace(PLACE, (_, name: Field) => values[name]),
  }));

/** The question as a judge is shown it: its text, or a conversation with the name of who speaks before each message. */
export const shownQuestion = (messages: readonly Message[]): string =>
  messages.length === 1
    ? messages[0]!.content
    : messages.map(({ role, content }) => `${role}: ${content}`).join('\n\n');

/** What stands after the last `<tag>`, up to `</tag>` or the end; the whole text where there is no tag to look for. */
function marked(text: string, tag: string | undefined): string | null {
  if (tag === undefined) return text;
  const at = text.lastIndexOf(`<${tag}>`);
  if (at < 0) return null;
  const rest = text.slice(at + tag.length + 2);
  const end = rest.indexOf(`</${tag}>`);
  return end < 0 ? rest : rest.slice(0, end);
}

/** What a judgment is worth; null where it holds no grade of the rubric. */
export function parseGrade({ grade: rule }: Pick<Rubric, 'grade'>, text: string): number | null {
  const found = marked(text, rule.tag)?.trim();
  if (!found) return null;
  if ('grades' in rule) {
    const word = Object.keys(rule.grades).find((name) => name.toLowerCase() === found.toLowerCase());
    return word === undefined ? null : rule.grades[word]!;
  }
  if (!/^[-+]?\d+(?:\.\d+)?$/.test(found)) return null;
  const value = Number(found);
  return value < rule.from || value > rule.to ? null : (value - rule.from) / (rule.to - rule.from);
}
