/** `rollmesh check-answers FILE`: gives every answer of a file to a checker, so that one can try it before anything is trained. */
import { basename } from 'node:path';
import { Command } from 'commander';
import type { Checker } from '../core/checkers/checker.ts';
import { EXTRACTIONS, type Extraction, extractAnswer, parseExtractions } from '../core/checkers/extract.ts';
import { findChecker } from '../core/checkers/registry.ts';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import { acceptedAnswers, optionLetter, writtenAnswer } from '../worlds/file/read-tasks.ts';
import type { Row } from '../worlds/file/row.ts';
import { type FileBytes, readRows } from '../worlds/file/rows.ts';
import { calledAs } from './called-as.ts';
import { KNOWN, taskFileBytes } from './policy/task-file-options.ts';
import { withPython } from './policy/with-python.ts';
import { printable } from './printable.ts';

interface CheckOptions {
  readonly checker: string;
  readonly extract: readonly Extraction[];
  readonly json: boolean;
}

/** What a checker says of a row. */
export interface RowVerdict {
  /** Line of a JSONL or CSV file, row of a Parquet file; both from 1. */
  readonly line: number;
  /** null where the row or its reference cannot be read. */
  readonly right: boolean | null;
  /** Why the row, its reference or its answer cannot be read. */
  readonly reason?: string;
}

function verdictOf({ line, value }: Row, checker: Checker, extract: readonly Extraction[]): RowVerdict {
  const given = value.answer;
  if (value.reference === undefined && value.metadata === undefined && !checker.readsMetadataAlone)
    return { line, right: null, reason: 'it has no "reference"' };
  if (typeof given !== 'string' && typeof given !== 'number')
    return { line, right: null, reason: 'it has no text "answer"' };
  const { reference: _, answer: __, metadata, ...more } = value;
  const own: Readonly<Record<string, unknown>> = {
    ...more,
    ...(typeof metadata === 'object' ? metadata : {}),
  };
  const accepted = acceptedAnswers(value.reference, checker);
  const reference = {
    answer:
      accepted?.[0] ?? optionLetter(value.reference, own.choices, checker) ?? writtenAnswer(value.reference),
    metadata: { ...own, ...(accepted ? { accepted } : {}) },
  };
  try {
    const check = checker.prepare(reference);
    const found = extractAnswer(String(given), extract);
    const said = found.ok ? check(found.value) : found;
    return said.ok ? { line, right: said.value } : { line, right: false, reason: said.reason };
  } catch (error) {
    if (!(error instanceof RollmeshError && error.kind === 'wrong-input')) throw error;
    return { line, right: null, reason: error.what };
  }
}

/** Verdicts in the order of the lines. Throws as `readRows` does where the whole file cannot be read. */
export async function checkAnswers(
  name: string,
  bytes: FileBytes,
  checker: Checker,
  extract: readonly Extraction[],
): Promise<RowVerdict[]> {
  const verdicts: RowVerdict[] = [];
  for await (const { rows, faults } of readRows(name, bytes)) {
    for (const row of rows) verdicts.push(verdictOf(row, checker, extract));
    for (const { line, what } of faults) verdicts.push({ line, right: null, reason: what });
  }
  if (verdicts.length === 0)
    throw wrongInput('tasks.empty', `The file ${name} has no rows.`, {
      expected: 'rows like {"reference": "…", "answer": "…"}',
    });
  return verdicts.sort((a, b) => a.line - b.line);
}

const wordOf = ({ right }: RowVerdict): string => (right === null ? 'not read' : right ? 'right' : 'wrong');

async function check(path: string, { checker, extract, json }: CheckOptions): Promise<void> {
  const found = findChecker(checker, KNOWN);
  await withPython(found);
  const verdicts = await checkAnswers(basename(path), await taskFileBytes(path), found, extract);
  for (const verdict of verdicts)
    if (json) console.log(JSON.stringify(verdict));
    else if (!verdict.right || verdict.reason !== undefined)
      console.log(
        printable(
          `line ${verdict.line}: ${wordOf(verdict)}${verdict.reason === undefined ? '' : ` (${verdict.reason})`}`,
        ),
      );
  if (json) return;
  const count = (right: boolean | null) => verdicts.filter((one) => one.right === right).length;
  console.log(
    `${verdicts.length} rows: ${count(true)} right, ${count(false)} wrong, ${count(null)} not read.`,
  );
}

export const command = (): Command =>
  new Command(calledAs('check-answers'))
    .description(
      'Gives every row {"reference", "answer", "metadata"?} of a file to a checker. Nothing is sampled, trained or stored.',
    )
    .argument('<file>', 'a .jsonl, .csv or .parquet file')
    .option(
      '--checker <name>',
      `who decides what is right: ${KNOWN.map(({ name }) => name).join(', ')}`,
      'auto',
    )
    .option(
      '--extract <where>',
      `where the answer stands in the text, tried in order (${EXTRACTIONS.join(', ')})`,
      parseExtractions,
      parseExtractions('whole'),
    )
    .option('--json', 'one JSON object a row: {"line", "right": true, false or null, "reason"?}', false)
    .action(check);
