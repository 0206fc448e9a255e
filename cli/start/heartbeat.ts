/** While nothing happens, says every ten seconds what a run is doing, so that a person can tell waiting from hanging. */
import type { StateOfRound } from '../../core/round/stages.ts';
import type { RunPrinter } from './run-printer.ts';

/** How long the terminal may stand still, ms, and how often that is checked. */
const QUIET_MS = 10_000;
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
  if (!round) return 'beginning the first round';
  const name = `round ${round.index} of ${rounds}`;
  const { scored, failed, trained } = round.groups;
  switch (round.state) {
    case 'proposing':
      return `${name}: proposing tasks`;
    case 'rollout':
      return `${name}: ${scored + failed} of ${round.expected} groups judged`;
    case 'training':
      return `${name}: training on ${scored} groups`;
    case 'done':
      return `${name} trained on ${trained} groups: evaluating ${round.index === 1 ? 'the start version' : 'the new version'}`;
    case 'failed':
      return `${name} failed: beginning the next one`;
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
 * Wraps a printer so that a remark is printed when nothing else was for ten seconds.
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
    const what = await Promise.race([asked(), answerless()]).catch(() => NO_ANSWER);
    asking = false;
    if (asked === describe) printer.remark(`${what} … ${Math.round((performance.now() - since) / 1000)} s`);
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
const NO_ANSWER = 'the mesh is busy and does not answer';
const answerless = () =>
  new Promise<string>((resolve) => setTimeout(() => resolve(NO_ANSWER), ANSWER_MS).unref());
