/** Units behind values: pairs judged by hand, and values that are converted by factors that are written here a second time. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import Fraction from 'fraction.js';
import { expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';

interface Group {
  readonly checker: string;
  readonly reference: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}
const groups: Group[] = readFileSync(new URL('units.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));

/** The answers among these that are right. */
function rightOnes(checker: string, reference: string, answers: readonly string[]): string[] {
  const check = findChecker(checker).prepare({ answer: reference, metadata: {} });
  return answers.filter((answer) => {
    const said = check(answer);
    return said.ok && said.value;
  });
}

test.each(groups)('$checker: what is $reference', ({ checker, reference, right, wrong }) => {
  expect(rightOnes(checker, reference, [...right, ...wrong])).toEqual(right);
});

/** Of each dimension: units by several names, each in one exact unit of it; the definitions are those of the SI brochure and of 1959. */
const DIMENSIONS: readonly Readonly<Record<string, string>>[] = [
  {
    m: '1',
    cm: '1/100',
    mm: '1/1000',
    km: '1000',
    inches: '0.0254',
    ft: '0.3048',
    yards: '0.9144',
    miles: '1609.344',
  },
  { 'm^2': '1', 'cm^2': '1/10000', 'square feet': '0.09290304', hectares: '10000', 'sq km': '1000000' },
  { L: '1', mL: '1/1000', 'cm^3': '1/1000', 'cubic meters': '1000', gallons: '3.785411784' },
  { kg: '1', g: '1/1000', mg: '1/1000000', pounds: '0.45359237', tonnes: '1000' },
  { seconds: '1', minutes: '60', hours: '3600', days: '86400', weeks: '604800', ms: '1/1000' },
  { 'm/s': '1', 'km/h': '5/18', mph: '0.44704', 'feet per second': '0.3048' },
  { J: '1', kJ: '1000', kWh: '3600000', 'N m': '1' },
  { Pa: '1', kPa: '1000', 'N/m^2': '1', '\\text{bar}': '100000', atm: '101325' },
];
const dimension = fc.nat(DIMENSIONS.length - 1);

test('a value that is converted exactly is right, at another scale or of another dimension wrong', () => {
  const value = fc.record({ n: fc.integer({ min: 1, max: 9999 }), d: fc.constantFrom(1, 10, 100) });
  fc.assert(
    fc.property(dimension, dimension, fc.nat(), fc.nat(), value, (one, two, i, j, { n, d }) => {
      const [ours, others] = [one, two].map((at) => Object.entries(DIMENSIONS[at]!));
      const [from, to, other] = [
        ours![i % ours!.length]!,
        ours![j % ours!.length]!,
        others![j % others!.length]!,
      ];
      const said = new Fraction(n, d);
      const text = `${said.toString()} ${from[0]}`;
      const exact = said.mul(new Fraction(from[1])).div(new Fraction(to[1]));
      const answer = `${exact.toFraction()} ${to[0]}`;
      const same = new Fraction(from[1]).equals(new Fraction(to[1]));
      expect(rightOnes('math', text, [answer]), `${answer} is ${text}`).toEqual([answer]);
      const scaled = `${said.toString()} ${to[0]}`;
      expect(rightOnes('math', text, [scaled]), `${scaled} is ${text}`).toEqual(same ? [scaled] : []);
      const apart = `${said.toString()} ${other[0]}`;
      if (one !== two) expect(rightOnes('math', text, [apart]), `${apart} is ${text}`).toEqual([]);
      const bare = said.toString();
      expect(rightOnes('math', text, [bare, `${bare} clips`])).toEqual([bare, `${bare} clips`]);
    }),
  );
});
