/** Tokens of agents against HMAC-SHA256 as Node has it. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { episodeToken, runToken, seatToken } from '../../core/net/agent-token.ts';

test('a token is an HMAC of what it opens under the learner’s token; no two are alike', () => {
  const hmac = (text: string) => createHmac('sha256', 'secret').update(text).digest('hex');
  expect(runToken('secret', 'a')).toBe(hmac('agents of a'));
  expect(episodeToken('secret', 'a-0')).toBe(hmac('agent of episode a-0'));
  expect(seatToken('secret', 'a-0', 'white')).toBe(hmac('agent of seat white of episode a-0'));
  const all = [runToken('x', 'a'), runToken('y', 'a'), runToken('x', 'b'), episodeToken('x', 'a')];
  expect(new Set(all).size).toBe(4);
});
