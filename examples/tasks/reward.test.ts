import assert from 'node:assert/strict';
import { test } from 'node:test';
import brevity from './brevity.ts';

const task = { messages: [], answer: '3', metadata: {}, difficulty: null };

test('a shorter answer earns more, and one that was cut off earns nothing', () => {
  const rollout = { text: '3', answer: '3', ended: true };
  assert.equal(brevity({ ...rollout, tokens: 1 }, task), 1);
  assert.equal(brevity({ ...rollout, tokens: 14 }, task), 0.5);
  assert.equal(brevity({ ...rollout, tokens: 26, ended: false }, task), 0);
});
