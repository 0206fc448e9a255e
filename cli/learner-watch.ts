/**
 * Interprets a supervised learner's log lines and exits: what a person should be told, and when to give up. It does not handle the process
 * itself; its caller passes lines and exits to it.
 */
import { type FailureKind, RollmeshError } from '../core/errors.ts';

/** How many exits without a trained round in between are allowed before the learner is not started again. */
const MOST_ENDS = 5;
/** How long the learner may be in trouble before the command ends, ms, and how long after a trouble it counts as over. */
const MOST_TROUBLE_MS = 5 * 60_000;
const OVER_MS = 60_000;

export interface LearnerNews {
  /** A message for the terminal. */
  readonly notice?: string;
  /** The error with which the command ends, since the learner cannot go on. */
  readonly fatal?: RollmeshError;
}

interface Failed {
  readonly kind: FailureKind;
  readonly code: string;
  readonly what: string;
  readonly expected?: string;
  readonly next?: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The fields of a line of the learner's log; undefined for any other line of standard error. */
function parseEvent(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

/** Is it the line of a stack trace that says what was thrown? */
const saysWhy = (line: string) => /^(?:error|\w*Error|[a-z-]+(?:\.[a-z-]+)+)\b.*: /.test(line);

export class LearnerWatch {
  readonly #log: string;
  #ends = 0;
  #since: number | undefined;
  #last = 0;
  #told = '';
  #lastWords = '';
  #failed: Failed | undefined;

  readonly #now: () => number;

  /** `log`: the path of the complete log, which messages name. */
  constructor(log: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Takes a line that the learner wrote to standard error. */
  line(line: string): LearnerNews {
    const event = parseEvent(line);
    if (!event) {
      if (saysWhy(line)) this.#lastWords = line.slice(0, 300);
      return {};
    }
    switch (event.event) {
      case 'round.trained':
      case 'round.dropped':
        this.#ends = 0;
        this.#since = undefined;
        this.#told = '';
        return {};
      case 'round.failed':
        this.#since = undefined;
        return this.#tell(`the learner gives up round ${text(event.round)}: ${text(event.message)}`);
      case 'learner.failed':
        this.#failed = {
          kind: text(event.kind) as FailureKind,
          code: text(event.code),
          what: text(event.what),
          ...(event.expected ? { expected: text(event.expected) } : {}),
          ...(event.next ? { next: text(event.next) } : {}),
        };
        return {};
      case 'learner.trouble':
        return this.#trouble(text(event.code), text(event.message));
      case 'evaluation.failed':
        return this.#tell(`an evaluation failed: ${text(event.message)}`);
      default:
        return {};
    }
  }

  /** Takes the exit of a process that was not asked to end. */
  ended(code: number | null, signal: string | null): LearnerNews {
    const failed = this.#failed;
    const why = failed?.what || (signal ? `signal ${signal}` : this.#lastWords || `exit status ${code}`);
    this.#failed = undefined;
    this.#lastWords = '';
    // Another attempt would fail in the same way.
    if (failed && failed.kind !== 'retry')
      return { fatal: new RollmeshError(failed.kind, failed.code, failed.what, failed) };
    this.#ends++;
    if (this.#ends >= MOST_ENDS) {
      const what = `The learner ended ${MOST_ENDS} times without training a round. The last time: ${why}`;
      return {
        fatal: new RollmeshError('give-up', 'learner.ended', what, {
          next: `Its log is ${this.#log}. The same command goes on where the run stands.`,
        }),
      };
    }
    return { notice: `the learner ended and is started again (${why}); its log is ${this.#log}` };
  }

  #trouble(code: string, message: string): LearnerNews {
    const now = this.#now();
    if (this.#since === undefined || now - this.#last > OVER_MS) this.#since = now;
    this.#last = now;
    if (now - this.#since < MOST_TROUBLE_MS) return this.#tell(`the learner tries again: ${message}`);
    const what = `The learner has tried for ${MOST_TROUBLE_MS / 60_000} minutes without success. The last time: ${message}`;
    return {
      fatal: new RollmeshError('give-up', code || 'learner.trouble', what, {
        next: `Its log is ${this.#log}. The same command goes on where the run stands.`,
      }),
    };
  }

  /** Returns a notice only once, until a round is trained. */
  #tell(notice: string): LearnerNews {
    if (notice === this.#told) return {};
    this.#told = notice;
    return { notice };
  }
}
