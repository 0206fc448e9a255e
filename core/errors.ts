/**
 * Defines the errors that the project throws. An expected failure has a kind that says what the caller should do with it. Anything else that is
 * thrown is a bug of this project and carries the prefix `internal:` where the code can tell.
 */

/**
 * The kinds of failures:
 *
 * - `retry`: it may work later.
 * - `give-up`: it will never work.
 * - `wrong-input`: the caller made a mistake.
 * - `missing-version`: the policy version that was named is not there.
 * - `over-budget`: a limit was reached.
 */
export const FAILURE_KINDS = ['retry', 'give-up', 'wrong-input', 'missing-version', 'over-budget'] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export class RollmeshError extends Error {
  readonly kind: FailureKind;
  /** Stable identifier for programs, such as `policy.missing`. */
  readonly code: string;
  /** What happened: the message without what was expected and what to do next. */
  readonly what: string;
  readonly expected: string | undefined;
  readonly next: string | undefined;

  /** The message reads "What happened: value. Expected …. Do …." */
  constructor(
    kind: FailureKind,
    code: string,
    what: string,
    hint: { expected?: string; next?: string; cause?: unknown } = {},
  ) {
    const tail = [hint.expected && `Expected ${hint.expected}.`, hint.next].filter(Boolean).join(' ');
    super(tail ? `${what} ${tail}` : what, hint.cause === undefined ? undefined : { cause: hint.cause });
    this.name = 'RollmeshError';
    this.kind = kind;
    this.code = code;
    this.what = what;
    this.expected = hint.expected;
    this.next = hint.next;
  }
}

export const wrongInput = (
  code: string,
  what: string,
  hint: { expected?: string; next?: string; cause?: unknown } = {},
) => new RollmeshError('wrong-input', code, what, hint);

/** The kind of anything that was thrown. Errors of unknown origin are worth another try, a bounded number of times. */
export const kindOf = (error: unknown): FailureKind =>
  error instanceof RollmeshError ? error.kind : 'retry';
