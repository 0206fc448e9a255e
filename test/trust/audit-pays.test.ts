/** Lies do not pay: what a forger gains on average, over its ways to lie, and the table of docs/trust.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shareOf } from '../../core/audit/audit-nodes.ts';
import { drawShare } from '../../core/audit/audit-round.ts';
import { Random } from '../../core/random.ts';

const FRACTION = 0.02;

/** A forger that computes honestly at first, then makes up some of every round's requests, and leaves after some rounds. */
interface Forger {
  readonly honest: number;
  readonly perRound: number;
  readonly lies: number;
  readonly rounds: number;
}

/** The probability that none of `lies` among `requests` is drawn, where `drawn` of them are: C(n − k, d) / C(n, d). */
function unseen(requests: number, lies: number, drawn: number): number {
  let p = 1;
  for (let i = 0; i < lies; i++) p *= Math.max(0, requests - drawn - i) / (requests - i);
  return p;
}

/**
 * What it gains on average, in requests that it did not compute and was credited: k of each round, if it is never found; where it is found, it loses all
 * that it was credited before, and gains nothing of that round.
 */
function gain({ honest, perRound, lies, rounds }: Forger): number {
  let [right, credited] = [0, 0];
  const audited = (requests: number) => Math.ceil(shareOf(FRACTION, right) * requests);
  for (; credited < honest; credited += perRound) right += audited(perRound);
  let [alive, gained, expected] = [1, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const drawn = audited(perRound);
    const passes = unseen(perRound, lies, drawn);
    expected -= alive * (1 - passes) * credited;
    alive *= passes;
    gained += lies;
    credited += perRound;
    right += drawn;
  }
  return expected + alive * gained;
}

test('every forger loses on average: each rate of lying, time to begin and time to leave', () => {
  const forgers: Forger[] = [];
  for (const perRound of [1, 2, 3, 5, 8, 16, 50, 200])
    for (const lies of new Set([1, 2, Math.ceil(perRound / 8), Math.ceil(perRound / 2), perRound]))
      for (const rounds of [1, 2, 3, 10, 50, 200])
        for (const honest of [0, 1, 2, 5, 20, 50, 98, 200, 1000, 5000])
          if (lies <= perRound) forgers.push({ honest, perRound, lies, rounds });
  expect(forgers.length).toBeGreaterThan(1500);
  // Whoever begins with a lie that is drawn has nothing to lose yet, and gains nothing.
  const paid = forgers.filter((forger) => (forger.honest ? gain(forger) >= 0 : gain(forger) > 0));
  expect(paid).toEqual([]);
});

test('with the share alone, which does not adapt, lying at once would pay', () => {
  // One lie in the first round of 50 requests, of which one is drawn: 0.98, and there is nothing to lose.
  expect(unseen(50, 1, 1)).toBeCloseTo(0.98, 10);
  expect(shareOf(FRACTION, 0)).toBe(1);
  expect(shareOf(FRACTION, 1e9)).toBe(FRACTION);
  expect(shareOf(1, 1e9)).toBe(1);
});

test('the draw itself finds lies as often as the sum says', () => {
  const random = new Random('audit pays');
  const requests = Array.from({ length: 40 }, (_, i) => i);
  const share = shareOf(FRACTION, 18);
  let found = 0;
  const draws = 4000;
  for (let i = 0; i < draws; i++) {
    const lies = new Set(random.shuffle(requests).slice(0, 5));
    if (drawShare(requests, share, `seed ${i}`).some((request) => lies.has(request))) found++;
  }
  const p = 1 - unseen(40, 5, 4);
  expect(share).toBe(0.1);
  expect(Math.abs(found - draws * p)).toBeLessThan(4 * Math.sqrt(draws * p * (1 - p)));
});

test('docs/trust.md tells what fraud costs and brings', () => {
  const share = (right: number) => Math.max(0.02, 2 / (2 + right));
  const number = (x: number, digits = 1) => x.toFixed(digits).replace('-', '−');
  const percent = (x: number) => `${number(100 * x, x < 0.1 ? 1 : 0)} %`;
  const found = (s: number, lies: number) => 1 - (1 - s) ** lies;
  const rows = [0, 8, 38, 98].map((right) => {
    const s = share(right);
    const cells = [right, percent(s), percent(found(s, 1)), percent(found(s, 4)), percent(found(s, 16))];
    return `| ${[...cells, number(1 / s - 1), number(1 - s - s * right)].join(' | ')} |`;
  });
  const told = readFileSync('docs/trust.md', 'utf8').split('\n');
  const at = told.findIndex((line) => line.startsWith('| found right before | share drawn |')) + 2;
  expect(told.slice(at, at + rows.length)).toEqual(rows);
});
