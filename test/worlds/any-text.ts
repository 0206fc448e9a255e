/** Arbitrary texts for parsers: noise, and strings that nearly are what a parser wants. Not for families whose words differ. */
import fc from 'fast-check';

const PIECES = [
  '<step>',
  '<answer>',
  '<eos>',
  '<sep>',
  '<ok>',
  '<bad>',
  '<right>',
  'x=',
  '3*x+1=7',
  '*x=',
  '-0',
  '12',
  ';',
  '_',
  ' ',
  'rev',
  '( -1 )',
  ')',
  '+3',
  '>2',
  'ab>ba',
  ',',
  'abc',
  'the home of ',
  'the one with ',
  '?',
  'az 2-4:',
  '\n',
];

export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
);
