/** What the bench of large policies reads of a node's own speed. */
import { expect, test } from 'vitest';
import { workLine } from '../../cli/node/work-line.ts';
import { nodeSpeed } from './large.ts';

const work = { requests: 4, samples: 64, tokens: 1536, tokensPerSecond: 51 };

test('the last line of a node that computes by itself says how fast its threads generate', () => {
  const lines = [
    'lends 1 thread to http://127.0.0.1:8787; Ctrl-C ends it',
    workLine({ ...work, tokensPerThreadSecond: 299 }),
  ];
  expect(lines[1]).toBe(
    '4 requests, 64 completions, 1536 tokens (51 a second; 299 for each second that a thread generates)',
  );
  const log = [...lines, workLine({ ...work, requests: 8, tokensPerThreadSecond: 312 })].join('\n');
  expect(nodeSpeed(log)).toBe(312);
});

test('one before which a server computes says nothing of it', () => {
  expect(workLine(work)).toBe('4 requests, 64 completions, 1536 tokens (51 a second)');
  expect(nodeSpeed(workLine(work))).toBeUndefined();
});
