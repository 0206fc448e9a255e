/** What a run prints: lines for people, or one JSON object a line. Both are fed the same records. */
import type { EvaluationReport } from '../core/schema/report.ts';
import type { RoundLine, Summary } from '../core/schema/summary.ts';
import { closingWords } from './closing-words.ts';
import { paintFor } from './colour.ts';
import { explainStart, roundLines, type Start, startLine } from './progress.ts';

export interface RunPrinter {
  started(start: Start): void;
  evaluatedStart(evaluation: EvaluationReport): void;
  round(line: RoundLine): void;
  finished(summary: Summary): void;
}

export function jsonPrinter(): RunPrinter {
  const print = (value: object) => console.log(JSON.stringify(value));
  return {
    started: (start) => print({ kind: 'start', ...start }),
    evaluatedStart: (evaluation) => print({ kind: 'evaluation', round: 0, ...evaluation }),
    round: print,
    finished: print,
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
      console.log(startLine(evaluation));
    },
    round: (line) => {
      for (const text of roundLines(line, { rounds, start, paint })) console.log(text);
      shown++;
    },
    finished: (summary) => console.log(`${shown ? '\n' : ''}${closingWords(summary)}`),
  };
}
