/**
 * A checker decides whether an answer to a task is right. It is pure and bounded, so that it may run in a Worker on whatever a model
 * wrote. A task's reference is read once, before anything is trained, and a reference that does not parse is the file's mistake; an
 * answer that does not parse is the model's, and comes back as a reason.
 */
import { wrongInput } from '../errors.ts';
import type { ParseResult } from '../recipe/task-family.ts';

/** What a task says about its right answers. */
export interface Reference {
  readonly answer: string;
  /** What a checker needs beyond the answer: the numbers of a countdown, the options of a choice, the tests of a program. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Is the answer right? An `invalid` result says why the answer does not parse: it is not right, and it counts as a format error. */
export type Check = (answer: string) => ParseResult<boolean, string>;

export interface Checker {
  readonly name: string;
  /** What it accepts, in a sentence. */
  readonly description: string;
  /** Throws `wrong-input` with code `answer.reference` where the reference is nothing that this checker can compare with. */
  readonly prepare: (reference: Reference) => Check;
  /** Reads nothing of a reference but its metadata, so that a task needs no answer. */
  readonly readsMetadataAlone?: true;
  /** Runs answers in an engine that the gateway does not have. */
  readonly runsAnswers?: true;
  /** What is wrong with a task whose reference can be read, looked for once, when its file is read: its own solution is wrong. null where nothing is. */
  readonly faultOf?: (task: Reference & { readonly solution?: string }) => string | null;
}

/** The longest answer that is read, in characters. A longer one is invalid, and rejecting it must not cost more than its length. */
export const LONGEST_ANSWER = 10_000;

/** The error for a reference that a checker cannot use. */
export const wrongReference = (checker: string, what: string, expected: string, cause?: unknown) =>
  wrongInput('answer.reference', `The checker "${checker}" cannot use this answer: ${what}`, {
    expected,
    next: 'Correct the line, or choose another checker.',
    ...(cause === undefined ? {} : { cause }),
  });

/** A text for an error message, shortened. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/**
 * The checker for tasks that accept several answers: any of `metadata.accepted`, which a file's list of answers becomes, is right. Where no one of
 * them reads an answer, it is invalid by the reason of the first.
 */
export const anyAccepted = (checker: Checker): Checker => ({
  ...checker,
  prepare: (reference) => {
    const { accepted } = reference.metadata;
    if (!Array.isArray(accepted) || accepted.length === 0) return checker.prepare(reference);
    const checks = accepted.map((answer) => checker.prepare({ ...reference, answer: String(answer) }));
    return (given) => {
      const verdicts = checks.map((check) => check(given));
      return (
        verdicts.find((verdict) => verdict.ok && verdict.value) ??
        verdicts.find(({ ok }) => ok) ??
        verdicts[0]!
      );
    };
  },
});
