/**
 * What a supervised learner's log and its ends mean: what a person should be told, and when to give up. Knows no process: it is fed
 * lines and ends.
 */
import { type FailureKind, RollmeshError } from '../core/errors.ts';
import { UNREADABLE } from '../learner/loop/load-version.ts';

/** Ends without a trained round in between, after which the learner is not started again. */
const MOST_ENDS = 5;
/** Attempts at a version that cannot be read, two seconds apart. */
const MOST_UNREADABLE = 10;

export interface LearnerNews {
  /** For the terminal. */
  readonly notice?: string;
  /** The learner is of no use any more: the command ends with this. */
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

/** The fields of a line of the learner's own log; undefined for anything else that came by standard error. */
function parseEvent(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

/** Of a stack trace the line that says what was thrown. */
const saysWhy = (line: string) => /^(?:error|\w*Error|[a-z-]+(?:\.[a-z-]+)+)\b.*: /.test(line);

export class LearnerWatch {
  readonly #log: string;
  #ends = 0;
  #unreadable = 0;
  #told = '';
  #lastWords = '';
  #failed: Failed | undefined;

  /** `log`: the file that has everything, for the messages. */
  constructor(log: string) {
    this.#log = log;
  }

  /** A line that the learner wrote to standard error. */
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
        this.#unreadable = 0;
        this.#told = '';
        return {};
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

  /** The process has ended, without being asked to. */
  ended(code: number | null, signal: string | null): LearnerNews {
    const failed = this.#failed;
    const why = failed?.what || (signal ? `signal ${signal}` : this.#lastWords || `exit status ${code}`);
    this.#failed = undefined;
    this.#lastWords = '';
    // Another try would end the same way.
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
    this.#unreadable = code === UNREADABLE ? this.#unreadable + 1 : 0;
    if (this.#unreadable < MOST_UNREADABLE) return this.#tell(`the learner tries again: ${message}`);
    // Its message says what to do.
    return { fatal: new RollmeshError('give-up', code, message) };
  }

  /** The same words once, until a round is trained. */
  #tell(notice: string): LearnerNews {
    if (notice === this.#told) return {};
    this.#told = notice;
    return { notice };
  }
}
