/** While nothing happens, says every twenty seconds what a run waits for, so that a person can tell waiting from hanging. */
import type { StateOfRound } from '../../core/round/stages.ts';
import type { RunPrinter } from './run-printer.ts';

/** How long the terminal may stand still, ms, and how often that is checked. */
const QUIET_MS = 20_000;
const LOOK_MS = 1_000;

/** What is known of a round that is waited for. */
export interface WaitingRound {
  readonly index: number;
  readonly state: StateOfRound;
  readonly expected: number;
  readonly groups: { readonly scored: number; readonly failed: number; readonly trained: number };
}

/** What a run of so many rounds waits for. `round`: its newest round; undefined where none has begun. */
export function waitingFor(round: WaitingRound | undefined, rounds: number): string {
  if (!round) return 'its first round to begin';
  const name = `round ${round.index} of ${rounds}`;
  const { scored, failed, trained } = round.groups;
  switch (round.state) {
    case 'proposing':
      return `the tasks of ${name}`;
    case 'rollout':
      return `the rollouts of ${name}: ${scored + failed} of ${round.expected} groups are judged`;
    case 'training':
      return `the learner to train ${name}: ${scored} groups are scored`;
    case 'done':
      return `what follows ${name}, which is done with ${trained} groups trained: its evaluation, or the next round`;
    case 'failed':
      return `what follows ${name}, which failed`;
  }
}

export interface Heartbeat {
  /** The printer; whatever is printed through it counts as a sign of life. */
  readonly printer: RunPrinter;
  /** Sets what is waited for from now on; null = nothing, so that nothing is said. */
  waitFor(what: (() => string | Promise<string>) | null): void;
  stop(): void;
}

/**
 * Wraps a printer so that a notice is printed when nothing else was for twenty seconds.
 * `last`: since when the terminal has stood still, on the clock of `performance.now()`, whose 0 is the start of the process.
 */
export function openHeartbeat(printer: RunPrinter, last = performance.now()): Heartbeat {
  let since = last;
  let describe: (() => string | Promise<string>) | null = null;
  let asking = false;
  const touched = Object.fromEntries(
    Object.entries(printer).map(([name, print]) => [
      name,
      (...said: unknown[]) => {
        last = since = performance.now();
        return (print as (...all: unknown[]) => void)(...said);
      },
    ]),
  ) as unknown as RunPrinter;
  const look = async () => {
    const asked = describe;
    if (!asked || asking || performance.now() - last < QUIET_MS) return;
    asking = true;
    last = performance.now();
    // The mesh may be the one that does not answer.
    const what = await Promise.race([asked(), answerless()]).catch(() => 'an answer of the mesh');
    asking = false;
    if (asked === describe)
      printer.notice(`waiting for ${what} (for ${Math.round((performance.now() - since) / 1000)} s now)`);
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    printer: touched,
    waitFor: (what) => {
      describe = what;
      // Not `last`: two short waits in a row may be a long silence.
      since = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}

const ANSWER_MS = 2_000;
const answerless = () =>
  new Promise<string>((resolve) => setTimeout(() => resolve('an answer of the mesh'), ANSWER_MS).unref());
