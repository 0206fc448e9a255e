/** `rollmesh check-answers` on pairs of references and answers whose verdicts were worked out by hand. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkAnswers, type RowVerdict } from '../../cli/check-answers.ts';
import { parseExtractions } from '../../core/checkers/extract.ts';
import { findChecker } from '../../core/checkers/registry.ts';

interface Pair {
  readonly id: string;
  readonly family: string;
  readonly checker: string;
  readonly extract?: string;
  readonly reference: string | number;
  readonly answer: string;
  readonly right: boolean;
}

const root = join(import.meta.dirname, '../..');
const pairs = ['answers.jsonl', 'everyday.jsonl'].flatMap((file) =>
  readFileSync(join(root, 'test/core/checkers', file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Pair),
);
const bytesOf = (rows: readonly unknown[]) =>
  new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n'));

test.each(pairs)('$family $id: $reference and $answer: $right', async (pair) => {
  const { checker, extract = 'whole', right } = pair;
  const [verdict] = await checkAnswers(
    'pair.jsonl',
    bytesOf([pair]),
    findChecker(checker),
    parseExtractions(extract),
  );
  expect(verdict?.right, verdict?.reason).toBe(right);
});

interface Group {
  readonly family: string;
  readonly checker: string;
  readonly extract?: string;
  readonly reference: unknown;
  readonly metadata?: unknown;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

/** A line for a reference, with answers that are right and wrong; all were judged by hand before they were tried. */
const groups = readFileSync(join(root, 'test/core/checkers/daily.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Group);

test.each([...new Set(groups.map(({ family }) => family))])('answers of every day: %s', async (family) => {
  const differing: string[] = [];
  for (const { checker, extract = 'whole', reference, metadata, right, wrong } of groups.filter(
    (group) => group.family === family,
  )) {
    const answers = [...right, ...wrong];
    const verdicts = await checkAnswers(
      'answers.jsonl',
      bytesOf(answers.map((answer) => ({ reference, answer, ...(metadata ? { metadata } : {}) }))),
      findChecker(checker),
      parseExtractions(extract),
    );
    verdicts.forEach((verdict, i) => {
      if (verdict.right !== i < right.length)
        differing.push(`${checker}: ${reference} and ${answers[i]}: ${verdict.right}`);
    });
  }
  expect(differing).toEqual([]);
});

test('the command prints a line a row, and says what cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'check-answers-'));
  try {
    const file = join(folder, 'rows.jsonl');
    writeFileSync(
      file,
      [
        { reference: '\\frac{1}{2}', answer: 'So \\boxed{0.5}.' },
        { reference: '2', answer: '\\boxed{3}' },
        { reference: '2', answer: 'no box, two' },
        { reference: '\\unknowncommand', answer: '\\boxed{2}' },
        { answer: '\\boxed{2}' },
        { reference: ['2', '3'], answer: '\\boxed{3}' },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
    );
    const run = (...more: string[]) =>
      execFileSync(
        process.execPath,
        [
          '--import',
          './cli/install/typescript.mjs',
          'cli/rollmesh.ts',
          'check-answers',
          file,
          '--checker',
          'math',
          '--extract',
          'boxed',
          ...more,
        ],
        { cwd: root, encoding: 'utf8' },
      );
    const verdicts = run('--json')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RowVerdict);
    expect(verdicts).toEqual([
      { line: 1, right: true },
      { line: 2, right: false },
      { line: 3, right: false, reason: 'no-box' },
      { line: 4, right: null, reason: expect.stringContaining('unknowncommand') },
      { line: 5, right: null, reason: 'it has no "reference"' },
      { line: 6, right: true },
    ]);
    expect(run()).toContain('6 rows: 2 right, 2 wrong, 2 not read.');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
