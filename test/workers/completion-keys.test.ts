/** The keys under which stages look completions up: of agents' recorded calls, of nodes' results and of what an earlier message sampled. */
import { expect, test } from 'vitest';
import type { SamplingSettings } from '../../core/policy/policy.ts';
import { settingsOf } from '../../core/schema/work.ts';
import { packGrammar, untilText } from '../../core/text/token-grammar.ts';
import { keysOf } from '../../workers/shared/cpu-budget.ts';

const texts = ['a', 'b', 'ab', '\n'];
const settings = (stop: string): SamplingSettings => ({
  maxNew: 4,
  temperature: 1,
  stop: [],
  grammar: untilText([stop], texts),
});
const keys = (given: SamplingSettings) =>
  keysOf({ version: 3 }, { ids: [1, 2], sampleIds: ['x', 'y'] }, given);

test('a grammar that was made again, or that travelled, gives the same keys, and another one gives others', () => {
  const { grammar, ...rest } = settings('ab');
  const travelled = settingsOf({
    settings: JSON.parse(JSON.stringify({ ...rest, grammar: packGrammar(grammar!) })),
  });
  expect(keys(settings('ab'))).toEqual(keys(settings('ab')));
  expect(keys(travelled)).toEqual(keys(settings('ab')));
  expect(keys(settings('b'))).not.toEqual(keys(settings('ab')));
  expect(keys(rest)).not.toEqual(keys(settings('ab')));
  expect(new Set(keys(rest)).size).toBe(2);
});
