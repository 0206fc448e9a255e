/** Prints a run as lines for people or as one JSON object per line. Both printers get the same records. */
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
import { asCalled } from '../called-as.ts';
import { printable, printableLines } from '../printable.ts';
import { paintFor } from '../shared/colour.ts';
import { closingWords } from './closing-words.ts';
import { explainStart, noticeLines, roundLines, type Start, startLine, stoppedLine } from './progress.ts';

export interface RunPrinter {
  started(start: Start): void;
  evaluatedStart(evaluation: EvaluationReport): void;
  round(line: RoundLine): void;
  finished(summary: Summary): void;
  /** Ctrl-C came after this round; 0 = before the first was done. */
  stopped(after: number, rounds: number): void;
  /** What is under way: on a terminal one line that the next one replaces, elsewhere nothing. */
  status(text: string): void;
  /** A message for the person at the terminal while the run goes on. */
  notice(text: string): void;
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
    waiting: (url) => print({ kind: 'waiting', url }),
  };
}

/** \r and "erase the line" of ECMA-48. */
const CLEAR = '\r\u001b[2K';

/** `flags`: what commands need to find the run's policy, such as ` --state DIR`. */
export function textPrinter(flags = ''): RunPrinter {
  const paint = paintFor(process.stdout, process.env);
  const live = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
  let standing = false;
  const clear = () => {
    if (standing) process.stdout.write(CLEAR);
    standing = false;
  };
  const say = (line: string) => {
    clear();
    console.log(asCalled(line));
  };
  let rounds = 0;
  let start: EvaluationReport | null = null;
  let shown = 0;
  return {
    started: (info) => {
      rounds = info.rounds;
      start = null;
      shown = 0;
      for (const line of explainStart(info, paint)) say(line);
    },
    evaluatedStart: (evaluation) => {
      start = evaluation;
      say(printable(startLine(evaluation)));
    },
    round: (line) => {
      for (const text of roundLines(line, { rounds, start, first: shown === 0, paint })) say(text);
      shown++;
    },
    status: (text) => {
      if (!live) return;
      const room = (process.stdout.columns || 80) - 3;
      process.stdout.write(
        `${CLEAR}${paint('dim', printable(text.length > room ? `${text.slice(0, room)}…` : text))}`,
      );
      standing = text !== '';
    },
    stopped: (after, rounds) => say(stoppedLine(after, rounds)),
    notice: (text) => {
      for (const part of noticeLines(text, paint)) say(part);
    },
    waiting: (url) => say(`\nThe mesh is up at ${url} and takes webhooks. Ctrl-C ends it.`),
    finished: (summary) => say(printableLines(`${shown ? '\n' : ''}${closingWords(summary, flags)}`)),
  };
}
