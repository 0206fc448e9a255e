/** Whether draws are by chance: sums worked by hand, honest nodes over long lives, and nodes at other temperatures. */
import { describe, expect, test } from 'vitest';
import { compareDraws, deviationOf, mayBeByChance, type ScoredTokens } from '../../core/audit/chance.ts';
import { uniforms } from '../../core/random.ts';

type Sums = ReturnType<typeof compareDraws>;

const add = (a: Sums, b: Sums): Sums => ({
  drift: a.drift + b.drift,
  squares: a.squares + b.squares,
  slack: a.slack + b.slack,
});
const NOTHING: Sums = { drift: 0, squares: 0, slack: 0 };

/** A completion of eight tokens, each drawn from `drawn`, as a policy of the distribution `p` scores it. */
function completion(p: readonly number[], drawn: readonly number[], seed: string): ScoredTokens {
  const entropy = -p.reduce((sum, x) => sum + x * Math.log(x), 0);
  const logprobs = [...uniforms(seed, 8)].map((u) => {
    let at = 0;
    for (let rest = u; at < drawn.length - 1 && rest >= drawn[at]!; at++) rest -= drawn[at]!;
    return Math.log(p[at]!);
  });
  return { logprobs, entropy: logprobs.map(() => entropy) };
}

const heated = (p: readonly number[], temperature: number): number[] => {
  const powers = p.map((x) => x ** (1 / temperature));
  const all = powers.reduce((sum, x) => sum + x, 0);
  return powers.map((x) => x / all);
};

/** After how many completions a node that draws from `drawn` is found; null = not in `most`. */
function foundAfter(
  p: readonly number[],
  drawn: readonly number[],
  most: number,
  seed: string,
): number | null {
  let sums = NOTHING;
  for (let i = 1; i <= most; i++) {
    const node = completion(p, drawn, `${seed}/node/${i}`);
    sums = add(sums, compareDraws(node, completion(p, p, `${seed}/mesh/${i}`)));
    if (!mayBeByChance(sums)) return i;
  }
  return null;
}

test('one pair of draws, by hand', () => {
  // p = (1/2, 1/4, 1/4) has an entropy of 1.5 ln 2; the first token's z is −ln 2 + 1.5 ln 2 = 0.5 ln 2, that of the others −0.5 ln 2.
  const entropy = [1.5 * Math.LN2];
  const { drift, squares, slack } = compareDraws(
    { logprobs: [-Math.LN2], entropy },
    { logprobs: [-2 * Math.LN2], entropy },
  );
  expect(drift).toBeCloseTo(Math.LN2, 12);
  expect(squares).toBeCloseTo(Math.LN2 ** 2, 12);
  expect(slack).toBeCloseTo(0.02 * 0.5 * Math.LN2, 12);
});

test('the bound, by hand', () => {
  // With squares 180 the evidence is S²/400 − ln(200/20)/2, and ln 10⁶ + 1.1513 = 14.9668 is reached at S = √(400 · 14.9668) = 77.37.
  for (const sign of [1, -1]) {
    expect(mayBeByChance({ drift: sign * 77.3, squares: 180, slack: 0 })).toBe(true);
    expect(mayBeByChance({ drift: sign * 77.4, squares: 180, slack: 0 })).toBe(false);
    expect(mayBeByChance({ drift: sign * 78.3, squares: 180, slack: 1 })).toBe(true);
  }
  expect(deviationOf({ drift: -6, squares: 9, slack: 0 })).toBe(-2);
  expect(deviationOf(NOTHING)).toBe(0);
});

const PLAIN = [0.5, 0.25, 0.15, 0.1];
/** Nearly certain: of 10,000 tokens one is another, so that z is as skewed as it gets. */
const SURE = [0.9999, 0.0001];

describe('nodes that draw by chance', () => {
  test.each([
    ['many ways to go on', PLAIN],
    ['one way to go on', SURE],
  ])('are never found, looked at after every completion: %s', (_, p) => {
    for (let node = 0; node < 20; node++) expect(foundAfter(p, p, 500, `honest/${node}`)).toBeNull();
  });

  test('nor one whose engine is off by what a close node may be off, in 20,000 completions', () => {
    const off = PLAIN.map((x, i) => x * Math.exp(i % 2 ? 0.02 : -0.02));
    const all = off.reduce((sum, x) => sum + x, 0);
    const drawn = off.map((x) => x / all);
    expect(foundAfter(PLAIN, drawn, 20_000, 'off')).toBeNull();
  });
});

test.each([
  ['greedily', [1, 0, 0, 0], 60],
  ['at temperature 0.5', heated(PLAIN, 0.5), 200],
  ['at temperature 0.8', heated(PLAIN, 0.8), 1500],
  ['at temperature 1.25', heated(PLAIN, 1.25), 1500],
  ['without the least likely token', [0.5, 0.25, 0.15, 0].map((x) => x / 0.9), 1500],
])('a node that draws %s is found', (_, drawn, most) => {
  const after = [0, 1, 2].map((node) => foundAfter(PLAIN, drawn, most, `biased/${node}`));
  expect(after).not.toContain(null);
});
