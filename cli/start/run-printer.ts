/** Prints a run as lines for people or as one JSON object per line. Both printers get the same records. */
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
import { printable, printableLines } from '../printable.ts';
import { paintFor, plain } from '../shared/colour.ts';
import { wrap } from '../shared/wrap.ts';
import { explainStart, noticeLines, roundLines, type Start, startLine, stoppedLine } from './progress.ts';
import { closingWords } from './run-summary.ts';
import { temperatureLines } from './temperatures.ts';

export interface RunPrinter {
  started(start: Start): void;
  evaluatedStart(evaluation: EvaluationReport): void;
  round(line: RoundLine): void;
  finished(summary: Summary): void;
  /** Ctrl-C came after this round; 0 = before the first was done. */
  stopped(after: number, rounds: number): void;
  /** What is under way: on a terminal a spinner beside this text, elsewhere nothing; an empty text ends it. */
  status(text: string): void;
  /** A message for the person at the terminal while the run goes on. */
  notice(text: string): void;
  /** The same, of what is as it should be. */
  remark(text: string): void;
  /** The mesh is up and waits: for webhooks, or for people who look at the page. */
  waiting(url: string): void;
}

export function jsonPrinter(): RunPrinter {
  const print = (value: object) => console.log(JSON.stringify(value));
  return {
    started: (start) => print({ kind: 'start', ...start }),
    evaluatedStart: (evaluation) => print({ kind: 'evaluation', round: 0, ...evaluation }),
    round: print,
    finished: print,
    stopped: (after, rounds) => print({ kind: 'stopped', after, rounds }),
    status: () => {},
    notice: (text) => print({ kind: 'notice', text }),
    remark: (text) => print({ kind: 'remark', text }),
    waiting: (url) => print({ kind: 'waiting', url }),
  };
}

/** `flags`: what commands need to find the run's policy, such as ` --state DIR`. */
export async function textPrinter(flags = ''): Promise<RunPrinter> {
  const { stdout, env } = process;
  const paint = paintFor(stdout, env);
  // Loaded only now, for it takes longer than `--help` may. It keeps its line below those that are printed meanwhile.
  const { default: ora } = await import('ora');
  const spinner = ora({
    stream: stdout,
    // Where nobody watches (a file, a build server with a terminal of its own) ora would print each text as a line;
    // on a terminal that has no width (a pseudo terminal whose size nobody set) it would clear lines for ever.
    isSilent: stdout.isTTY !== true || !stdout.columns || env.TERM === 'dumb' || 'CI' in env,
    // Ctrl-C is the run's own.
    discardStdin: false,
    color: paint === plain ? false : 'cyan',
  });
  const say = (line: string) => console.log(line);
  const sayLast = (line: string) => {
    spinner.stop();
    say(line);
  };
  let rounds = 0;
  let start: EvaluationReport | null = null;
  let shown = 0;
  let filled = new Set<string>();
  return {
    started: (info) => {
      rounds = info.rounds;
      start = null;
      shown = 0;
      filled = new Set();
      for (const line of explainStart(info, paint)) say(line);
    },
    evaluatedStart: (evaluation) => {
      start = evaluation;
      say(printable(startLine(evaluation)));
      for (const line of temperatureLines(evaluation)) say(line);
    },
    round: (line) => {
      for (const text of roundLines(line, { rounds, start, first: shown === 0, filled, paint })) say(text);
      shown++;
    },
    status: (text) => {
      const room = Math.max(10, stdout.columns - 5);
      const cut = printable(text.length > room ? `${text.slice(0, room)}…` : text);
      if (text) spinner.start(paint('dim', cut));
      else spinner.stop();
    },
    stopped: (after, rounds) => sayLast(stoppedLine(after, rounds)),
    notice: (text) => {
      for (const part of noticeLines(text, paint)) say(part);
    },
    remark: (text) => {
      for (const part of wrap(printable(text), 118)) say(`  ${part}`);
    },
    waiting: (url) => sayLast(`\nThe mesh is up at ${url} and takes webhooks. Ctrl-C ends it.`),
    finished: (summary) => sayLast(printableLines(`${shown ? '\n' : ''}${closingWords(summary, flags)}`)),
  };
}
