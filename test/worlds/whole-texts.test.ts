/** Grammars read the whole of a text: a right one with something before or after it is off the grammar. */
import { expect, test } from 'vitest';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { parseAnalysis, parseMetaVerdict } from '../../worlds/chains/analysis.ts';
import { chains } from '../../worlds/chains/family.ts';
import { equations } from '../../worlds/equations/family.ts';

const CHAIN = '1+1+1+1+1';
const PROOF = { steps: ['2', '3', '4', '5'], answer: '5' };
const CHECKS = '<step>2=<step>3=<step>4=<step>5=';

test.each<readonly [string, string, (text: string) => ParseResult<unknown>]>([
  ['sums, solution', '<step>7<answer>7<eos>', (text) => arithmetic.parseSolution('3+4', text)],
  ['sums, proposal', '3+4<eos>', arithmetic.parseProposal],
  ['chains, proposal', `${CHAIN}<eos>`, chains.parseProposal],
  ['chains, judgment', `${CHECKS}<right><eos>`, (text) => chains.parseJudgment(PROOF, text)],
  ['chains, analysis', `${CHECKS}<sep>:1<eos>`, (text) => parseAnalysis(PROOF, text)],
  [
    'chains, verdict on an analysis',
    `${CHECKS}<sep>:1<eos>`,
    (text) => parseMetaVerdict(PROOF, { issues: [], score: 1 }, text),
  ],
  ['equations, proposal', '3*x-4=11<eos>', equations.parseProposal],
  [
    'equations, solution',
    '<step>3*x=15<step>x=5<answer>5<eos>',
    (text) => equations.parseSolution('3*x-4=11', text),
  ],
])('%s', (_, right, parse) => {
  expect(parse(right)).toMatchObject({ ok: true });
  for (const wrong of [
    `1${right}`,
    `x${right}`,
    `${right}x`,
    right.replace('<eos>', 'x<eos>'),
    right.replace('<eos>', '\n<eos>'),
  ])
    expect([wrong, parse(wrong)]).toMatchObject([wrong, { ok: false }]);
});

test('a line of a solution is the whole line', () => {
  for (const line of ['yx=5', 'x=5y', '1x=5'])
    expect(
      equations.parseSolution('3*x-4=11', `<step>3*x=15<step>${line}<answer>5<eos>`),
      line,
    ).toMatchObject({ ok: false });
});
