/** Prints a run as lines for people or as one JSON object per line. Both printers get the same records. */
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
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
    notice: (text) => print({ kind: 'notice', text }),
    waiting: (url) => print({ kind: 'waiting', url }),
  };
}

export function textPrinter(): RunPrinter {
  const paint = paintFor(process.stdout, process.env);
  let rounds = 0;
  let start: EvaluationReport | null = null;
  let shown = 0;
  return {
    started: (info) => {
      rounds = info.rounds;
      for (const line of explainStart(info, paint)) console.log(line);
    },
    evaluatedStart: (evaluation) => {
      start = evaluation;
      console.log(printable(startLine(evaluation)));
    },
    round: (line) => {
      for (const text of roundLines(line, { rounds, start, first: shown === 0, paint })) console.log(text);
      shown++;
    },
    stopped: (after, rounds) => console.log(stoppedLine(after, rounds)),
    notice: (text) => {
      for (const part of noticeLines(text, paint)) console.log(part);
    },
    waiting: (url) => console.log(`\nThe mesh is up at ${url} and takes webhooks. Ctrl-C ends it.`),
    finished: (summary) => console.log(printableLines(`${shown ? '\n' : ''}${closingWords(summary)}`)),
  };
}
